"""Signs an in-toto statement with a key of Ed25519, in an envelope of DSSE."""

import json
import sys

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

key_file, statement_file, envelope_file = sys.argv[1:]
with open(key_file, "rb") as file:
    signer = CryptoSigner(load_pem_private_key(file.read(), password=None))
with open(statement_file, "rb") as file:
    envelope = Envelope(file.read(), "application/vnd.in-toto+json", {})
envelope.sign(signer)
with open(envelope_file, "w", encoding="utf-8") as file:
    json.dump(envelope.to_dict(), file, sort_keys=True)
    file.write("\n")
