"""Address, credentials and TLS settings of one API server, from whatever source."""

import msgspec

from kubesched.cluster.content import Content
from kubesched.cluster.credentials import Credentials


class Access(msgspec.Struct, frozen=True):
    """One API server and the credentials for it.

    Attributes:
        label: the source of these values, for messages.
        server: its URL, perhaps with a path, without a slash at the end.
        credentials: sent with each request.
        ca: PEM of the authorities that may have signed its certificate; None for those of the system.
        tls_server_name: the name that its certificate has to carry, empty for the host of the URL.
        insecure: whether any certificate will do.
        proxy: URL of an HTTP proxy, empty for none.
        compression: whether answers may come compressed.
        context: the context of the kubeconfig, empty for the service account of a pod.
        namespace: where namespaced objects are looked for by default.
        headers: sent with each request, for impersonation.
    """

    label: str
    server: str
    credentials: Credentials
    ca: Content | None = None
    tls_server_name: str = ""
    insecure: bool = False
    proxy: str = ""
    compression: bool = True
    namespace: str = "default"
    context: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Access({self.server!r})"
