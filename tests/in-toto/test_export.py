"""Tools that we did not write verify what `agent evidence export --in-toto --key` signs.

The envelope is read and verified by securesystemslib, and the statement by in-toto-attestation.
`AGENT` names the program.
"""

import copy
import hashlib
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from google.protobuf import json_format
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as Message
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

QUALITY = Path(__file__).parents[1] / "quality"

# Seconds for a run of the program.
TIME_LIMIT = 300


def agent(*arguments, folder):
    ran = subprocess.run(
        [os.environ["AGENT"], *arguments], cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def public(key):
    """Returns the public key as the export names it: by the SHA-256 of its DER form."""
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return SSlibKey.from_crypto(key.public_key(), keyid=hashlib.sha256(der).hexdigest())


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        plan, base = QUALITY / "pos/noop/plan.json", QUALITY / "base"
        pool, profile = base / "tool-pool.json", base / "profile.json"
        agent("run-plan", "--plan", plan, "--tool-pool", pool, "--profile", profile, folder=cls.folder)
        (cls.evidence,) = cls.folder.glob("artifacts/mova_agent/req/runs/*")
        cls.key = Ed25519PrivateKey.generate()
        key = cls.folder / "run.key"
        key.touch(mode=0o600)
        key.write_bytes(cls.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        out = cls.folder / "run.intoto.json"
        agent("evidence", "export", "--in-toto", cls.evidence, "--key", key, "--out", out, folder=cls.folder)
        cls.exported = json.loads(out.read_text())

    def envelope(self):
        # The reader changes what it reads.
        return Envelope.from_dict(copy.deepcopy(self.exported))

    def test_the_envelope_verifies(self):
        key = public(self.key)
        accepted = self.envelope().verify([key], threshold=1)
        self.assertEqual(accepted, {key.keyid: key})

    def test_each_changed_byte_of_the_payload_is_noticed(self):
        key, payload = public(self.key), self.envelope().payload
        for place in range(len(payload)):
            changed = self.envelope()
            changed.payload = payload[:place] + bytes([payload[place] ^ 1]) + payload[place + 1 :]
            with self.assertRaises(VerificationError, msg=place):
                changed.verify([key], threshold=1)

    def test_another_key_is_refused(self):
        other = public(Ed25519PrivateKey.generate())
        with self.assertRaises(VerificationError):
            self.envelope().verify([other], threshold=1)
        # Neither does the name of the right key help.
        other.keyid = public(self.key).keyid
        with self.assertRaises(VerificationError):
            self.envelope().verify([other], threshold=1)

    def test_another_type_of_payload_is_refused(self):
        changed = self.envelope()
        self.assertEqual(changed.payload_type, "application/vnd.in-toto+json")
        changed.payload_type = "application/json"
        with self.assertRaises(VerificationError):
            changed.verify([public(self.key)], threshold=1)

    def test_the_statement_has_every_file_of_the_evidence(self):
        message = json_format.Parse(self.envelope().payload, Message())
        Statement.copy_from_pb(message).validate()
        subjects = {it.name: dict(it.digest) for it in message.subject}
        files = (path for path in self.evidence.rglob("*") if path.is_file())
        expected = {
            path.relative_to(self.evidence).as_posix(): {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for path in files
        }
        self.assertEqual(subjects, expected)
        self.assertEqual(message.predicate["status"], "completed")


if __name__ == "__main__":
    unittest.main()
