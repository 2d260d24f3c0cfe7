"""IP addresses and networks.

Rule: Kubernetes v1.36 CEL libraries "ip" and "cidr", on Go 1.26 net/netip: no zones, no IPv4 in IPv6.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final

from kubesched.cel.cel_values import register_type
from kubesched.errors import CelRuntimeError

Address = IPv4Address | IPv6Address

_FIRST_MARK: Final = re.compile(r"[.:%]")
_SECOND_GAP: Final = re.compile(r"::.*?(::)", re.DOTALL)
_BITS: Final = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_OUTER: Final = "network address parse error during conversion from string: "

register_type(IPv4Address, "net.IP")
register_type(IPv6Address, "net.IP")


@dataclass(frozen=True, slots=True)
class AddressRange:
    """A network: an address, and how many of its bits count."""

    address: Address
    bits: int

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"

    def masked(self) -> "AddressRange":
        """The network with all other bits cleared."""
        return AddressRange(ip_network(str(self), strict=False).network_address, self.bits)

    def has(self, address: Address) -> bool:
        """Whether an address is in the network."""
        return address.version == self.address.version and address in ip_network(str(self), strict=False)


register_type(AddressRange, "net.CIDR")


def parse_address(text: str) -> Address:
    """Parse an address.

    Raises:
        CelRuntimeError: with the text of Kubernetes.
    """
    reason = _reason(text)
    if reason:
        start = f'IP Address "{text}" parse error during conversion from string'
        raise CelRuntimeError(f'{start}: ParseAddr("{text}"): {reason}')
    address = _parsed(text.partition("%")[0])
    if "%" in text:
        raise CelRuntimeError(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise CelRuntimeError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def _parsed(text: str) -> Address:
    return IPv6Address(text) if ":" in text else IPv4Address(text)


def _reason(text: str) -> str:
    """Go's words for what is no address."""
    mark = _FIRST_MARK.search(text)
    if mark is None:
        return "unable to parse IP"
    if mark[0] == "%":
        return "missing IPv6 address"
    if mark[0] == ".":
        return _reason_of_four(text)
    gaps = _SECOND_GAP.search(text)
    if gaps:
        return f'multiple :: in address (at "{text[gaps.start(1) + 1 :]}")'
    try:
        IPv6Address(text.partition("%")[0])
    except ValueError:
        return "unable to parse IP"
    return "zone must be a non-empty string" if text.endswith("%") else ""


def _reason_of_four(text: str) -> str:
    fields = text.split(".")
    for field in fields:
        wrong = re.search(r"[^0-9]", field, re.ASCII)
        if wrong:
            return f'unexpected character (at "{text[text.index(field) + wrong.start() :]}")'
        if not field:
            return "IPv4 field must have at least one digit"
        if len(field) > 1 and field.startswith("0"):
            return "IPv4 field has octet with leading zero"
        if len(field) > 3 or int(field) > 255:
            return "IPv4 field has value >255"
    return "" if len(fields) == 4 else f"IPv4 address too {'short' if len(fields) < 4 else 'long'}"


def parse_range(text: str) -> AddressRange:
    """Parse a network such as `10.0.0.0/8`.

    Raises:
        CelRuntimeError: with the text of Kubernetes.
    """
    address, slash, bits = text.rpartition("/")
    reason = _range_reason(address, slash, bits)
    if reason:
        raise CelRuntimeError(f'{_OUTER}{_OUTER}netip.ParsePrefix("{text}"): {reason}')
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        raise CelRuntimeError(f'{_OUTER}IPv4-mapped IPv6 address "{text}" is not allowed')
    return AddressRange(parsed, int(bits))


def _range_reason(address: str, slash: str, bits: str) -> str:
    if not slash:
        return "no '/'"
    problem = _reason(address)
    if problem:
        return f'ParseAddr("{address}"): {problem}'
    if "%" in address:
        return "IPv6 zones cannot be present in a prefix"
    if not _BITS.fullmatch(bits):
        return f'bad bits after slash: "{bits}"'
    return "" if len(bits) < 4 and int(bits) <= (128 if ":" in address else 32) else "prefix length out of range"
