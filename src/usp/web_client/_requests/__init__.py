"""The adapter to requests, urllib3, http.client and ssl.

Everything that relies on undocumented parts of them is in this folder. Each row has a canary in
``tests/web_client/test_canaries.py`` that fails if the part changes:

=============================================  ==================  ===============================
relied on                                      used in             canary
=============================================  ==================  ===============================
urllib3 ``HTTPConnection._new_conn()``         connections.py      test_urllib3_new_conn
urllib3 asks ``is_connected`` before reuse     connections.py      test_urllib3_is_connected
http.client ``HTTPConnection.response_class``  connections.py      test_http_client_response_class
``__class__`` of an ``ssl.SSLContext``         connections.py      test_ssl_context_class
``socket.makefile()`` reads by recv_into()     connections.py      test_socket_recv_into
http.client ``HTTPResponse._read_status()``    response_head.py    test_http_client_read_status
http.client ``HTTPResponse.fp``                response_head.py    test_http_client_fp
``chunked``, ``length`` of HTTPResponse        response_head.py    test_http_client_chunked
urllib3 ``HTTPConnectionPool.ConnectionCls``   session.py          test_urllib3_connection_class
urllib3 ``PoolManager.pools``                  session.py          test_urllib3_pools
the locks of urllib3's pools                   session.py          test_locks_of_pools
requests ``Session.rebuild_auth()``            session.py          test_requests_rebuild_auth
requests ``Session.send()``, once a hop        session.py          test_requests_send
requests ``HTTPAdapter._pool_maxsize``, …      session.py          test_requests_adapter_settings
a session has only attributes in ``__dict__``  session.py          test_requests_session_attributes
``PreparedRequest._cookies``, copied           identity.py         test_requests_copies_cookies
http.cookiejar ``CookieJar._cookies_lock``     cookie_jar.py       test_cookie_jar_lock
``auth`` is applied last                       identity.py         test_requests_applies_auth_last
requests copies the request it follows         response_hook.py    test_requests_copies_headers
urllib3 ``HTTPResponse.connection``            peer.py             test_urllib3_response_connection
urllib3 ``HTTPResponse._original_response``    peer.py             test_urllib3_original_response
urllib3 ``HTTPResponse.length_remaining``      response_hook.py    test_urllib3_length_remaining
requests ``Response._content``                 response.py         test_requests_content
``socket.shutdown()`` below TLS                tracked_sockets.py  test_ssl_socket_shutdown
=============================================  ==================  ===============================
"""
