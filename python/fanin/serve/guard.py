"""What every request has to pass, before anything looks at it, and the headers that every answer has.

The token is in the fragment of the printed address, which browsers send to nobody, neither in a request nor as a
referrer; the page sends it as a bearer token. A cookie would go to every server on this machine, whatever its port.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fanin.serve.answers import problem

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names of this machine."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The page's content security policy: only its own files, no script in the page, and no frame around it."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every answer."""

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+))(?::[0-9]{1,5})?")


def names_of(host: str) -> frozenset[str]:
    """The names under which a server that listens at an address is reached; empty if it listens at all addresses.

    A name that another site has pointed here (DNS rebinding) is none of them. Where all addresses are served, any
    address will do, as another site has no name in the request that leads here.
    """
    if host in ("0.0.0.0", "::"):
        return frozenset()
    return LOOPBACK | {host.lower()} if is_loopback(host) else frozenset({host.lower()})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at that address."""
    address = _address(host)
    return host.lower() in LOOPBACK or (address is not None and address.is_loopback)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


class Guard:
    """Lets requests in that come from the page itself, or from whoever has the token."""

    def __init__(self, app: ASGIApp, host: str, token: str, public: Collection[str]) -> None:
        """Puts itself before an application.

        Args:
            app: The application.
            host: The address at which it is served.
            token: What a request has to show.
            public: Paths that are answered without it: the page's own files.

        """
        self._app, self._token, self._public = app, token.encode(), frozenset(public)
        self._names = names_of(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                # Results are not for caches; the page's files are compared each time.
                headers["Cache-Control"] = "no-cache" if scope["path"] in self._public else "no-store"
            await send(message)

        refused = self._refused(scope)
        await (self._app if refused is None else refused)(scope, receive, sending)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return problem(421, "Misdirected request", "this server does not answer to that name")
        if scope["method"] != "GET":
            return problem(405, "Method not allowed", "everything here is only read", {"Allow": "GET"})
        if any(origin != f"http://{hosts[0]}" for origin in headers.getlist("origin")):
            return problem(403, "Forbidden", "the request comes from another site")
        if scope["path"] in self._public:
            return None
        if any(site not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
            return problem(403, "Forbidden", "the request comes from another site")
        if not self._is_token(headers.getlist("authorization")):
            said = "open the address that fanin serve has printed, or send its token as a bearer token"
            return problem(401, "Unauthorized", said, {"WWW-Authenticate": "Bearer"})
        return None

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = (match[1] or match[2]).lower()
        return name in self._names or (not self._names and (name in LOOPBACK or _address(name) is not None))

    def _is_token(self, sent: list[str]) -> bool:
        if len(sent) != 1:
            return False
        scheme, _, token = sent[0].partition(" ")
        # Takes as long for a token that is nearly right as for any other.
        right = hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._token)
        return right and scheme.lower() == "bearer"
