"""The adapter to aiohttp.

Everything that relies on undocumented parts of it is in this folder. Each row has a canary in
``tests/web_client/test_canaries.py`` that fails if the part changes:

=============================================  ==================  ===============================
relied on                                      used in             canary
=============================================  ==================  ===============================
``TCPConnector._factory`` and ``_loop``        connector.py        test_aiohttp_factory
``TCPConnector.connect()``, ``req.proxy``      connector.py        test_aiohttp_connect
``ResponseHandler.data_received()``            connector.py        test_aiohttp_data_received
``ResponseHandler._payload``                   connector.py        test_aiohttp_payload
``ResponseHandler.connection_lost()``          connector.py        test_aiohttp_connection_lost
sockets are made in the request's context      connector.py        test_aiohttp_socket_context
``ClientSession._retry_connection``            crawl_scope.py      test_aiohttp_retry_connection
``StreamReader._read_nowait()``                response.py         test_aiohttp_read_nowait
``ServerDisconnectedError.message``            response.py         test_aiohttp_disconnect_message
=============================================  ==================  ===============================
"""
