"""Certificates in PEM files, made anew for a test."""

from __future__ import annotations

from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path


class Authority:
    """An authority that signs; `truststore` is the file with its own certificate."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        ca = x509.BasicConstraints(ca=True, path_length=None)
        certificate = self._build(self._name, self._key.public_key()).add_extension(ca, True)
        self.truststore = folder / f"{name}.pem"
        self.truststore.write_bytes(_pem(certificate.sign(self._key, hashes.SHA256())))

    def keystore(self, name: str, address: str = "127.0.0.1", password: str = "") -> Path:
        """Return a file with a new key and its certificate, which is valid for an address."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        certificate = self._build(subject, key.public_key()).add_extension(names, False)
        secret: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password:
            secret = serialization.BestAvailableEncryption(password.encode())
        key_pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret
        )
        path = self._folder / f"{name}.pem"
        path.write_bytes(key_pem + _pem(certificate.sign(self._key, hashes.SHA256())))
        return path

    def _build(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now().astimezone()
        return x509.CertificateBuilder(
            self._name,
            subject,
            key,
            x509.random_serial_number(),
            now - timedelta(days=1),
            now + timedelta(days=1),
        )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
