"""Functions of URLs, IP addresses and networks.

Rule: Kubernetes v1.36 CEL libraries "urls", "ip" and "cidr".
"""

from collections.abc import Callable
from ipaddress import IPv4Address
from typing import Any

from kubesched.cel.cel_values import NO_SUCH_OVERLOAD
from kubesched.cel.library.addresses import Address, AddressRange, parse_address, parse_range
from kubesched.cel.library.costs import cost_of_text, tenth
from kubesched.cel.library.urls import Url, parse_url
from kubesched.cel.overloads import CostOf, FunctionTable
from kubesched.errors import CelRuntimeError

NETWORK_FUNCTIONS = FunctionTable()
declare = NETWORK_FUNCTIONS.declare

declare("url(string) -> kubernetes.URL", cost=cost_of_text)(parse_url)
declare("ip(string) -> net.IP", cost=cost_of_text)(parse_address)
declare("cidr(string) -> net.CIDR", cost=cost_of_text)(parse_range)
declare("string(net.IP) -> string", "string(net.CIDR) -> string")(str)


def _declare_test(name: str, parse: Callable[[str], Any], cost: CostOf | None = cost_of_text) -> None:
    @declare(f"{name}(string) -> bool", cost=cost)
    def test(text: str) -> bool:
        try:
            parse(text)
        except CelRuntimeError:
            return False
        return True


_declare_test("isURL", parse_url, None)
_declare_test("isIP", parse_address)
_declare_test("isCIDR", parse_range)

_URL = "kubernetes.URL"
declare(f"{_URL}: getScheme() -> string")(lambda url: url.scheme)
declare(f"{_URL}: getHost() -> string")(lambda url: url.host)
declare(f"{_URL}: getHostname() -> string")(lambda url: url.hostname)
declare(f"{_URL}: getPort() -> string")(lambda url: url.port)
declare(f"{_URL}: getEscapedPath() -> string")(lambda url: url.path)
declare(f"{_URL}: getQuery() -> map(string, list(string))")(Url.values)


@declare("ip.isCanonical(string) -> bool", cost=lambda text, _: 1 + tenth(len(text)))
def _is_canonical(text: str) -> bool:
    return str(parse_address(text)) == text


declare("net.IP: family() -> int")(lambda address: address.version)
declare("net.IP: isUnspecified() -> bool")(lambda address: address.is_unspecified)
declare("net.IP: isLoopback() -> bool")(lambda address: address.is_loopback)
declare("net.IP: isLinkLocalUnicast() -> bool")(lambda address: address.is_link_local)


@declare("net.IP: isLinkLocalMulticast() -> bool")
def _is_link_local_multicast(address: Address) -> bool:
    first, second = address.packed[:2]
    return (
        (first == 224 and address.packed[1:3] == b"\0\0") if address.version == 4 else first == 255 and second % 16 == 2
    )


@declare("net.IP: isGlobalUnicast() -> bool")
def _is_global_unicast(address: Address) -> bool:
    is_special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not is_special and address != IPv4Address("255.255.255.255")


@declare("net.CIDR: containsIP(net.IP) -> bool")
@declare("net.CIDR: containsIP(string) -> bool", cost=lambda _network, text, _: 1 + tenth(len(text)))
def _contains_address(network: AddressRange, address: Address | str) -> bool:
    if isinstance(address, str):
        try:
            address = parse_address(address)
        except CelRuntimeError:
            raise CelRuntimeError(NO_SUCH_OVERLOAD) from None
    return network.has(address)


@declare("net.CIDR: containsCIDR(net.CIDR) -> bool", cost=lambda *_: 3)
@declare("net.CIDR: containsCIDR(string) -> bool", cost=lambda _network, text, _: 3 + tenth(len(text)))
def _contains_range(network: AddressRange, other: AddressRange | str) -> bool:
    inner = parse_range(other) if isinstance(other, str) else other
    return network.bits <= inner.bits and network.has(inner.address)


declare("net.CIDR: ip() -> net.IP")(lambda network: network.address)
declare("net.CIDR: masked() -> net.CIDR")(AddressRange.masked)
declare("net.CIDR: prefixLength() -> int")(lambda network: network.bits)
