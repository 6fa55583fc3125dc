"""The response of a client, as a test expects it: the body of a document, or an error."""

from usp.web_client.abstract_client import (
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)


def body(response: AbstractWebClientResponse) -> bytes:
    assert isinstance(response, AbstractWebClientSuccessResponse), error(response).message()
    return response.raw_data()


def error(response: AbstractWebClientResponse) -> WebClientErrorResponse:
    assert isinstance(response, WebClientErrorResponse)
    return response
