/**
 * The certificates of forward mode (RFC 5280): an authority that can only vouch for the intercepted
 * hosts, and the short-lived certificates that clients see. The library encodes the structures;
 * keys and signatures are node's. Loading the library takes a tenth of a second, so this module is
 * imported when the first host is intercepted.
 */
import { createHash, createPublicKey, generateKeyPair, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  NameConstraints,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
} from '@peculiar/asn1-x509';

/** A certificate with its private key. */
export interface Identity {
  readonly certificatePem: string;
  readonly key: KeyObject;
}

const DAY_MS = 24 * 3600 * 1000;
export const AUTHORITY_DAYS = 365;
export const LEAF_DAYS = 10;
/** The clocks of containers and virtual machines differ slightly. */
const SKEW_MS = 3600 * 1000;

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const SERIAL_BYTES = 16;

const makeKeyPair = promisify(generateKeyPair);

/** Creates a private key on P-256, which every client can verify. */
export async function createKey(): Promise<KeyObject> {
  const { privateKey } = await makeKeyPair('ec', { namedCurve: 'P-256' });
  return privateKey;
}

/**
 * Creates an authority for `hosts`, valid for a year from `nowMs` (milliseconds since the epoch).
 * Its constraints are critical: a verifier that does not support them refuses it. They allow these
 * names and, per RFC 5280, names below them; they exclude every address.
 */
export async function createAuthority(hosts: readonly string[], nowMs: number): Promise<Identity> {
  const key = await createKey();
  const name = commonName('svc local authority');
  const permitted = hosts.map((dNSName) => subtree({ dNSName }));
  const excluded = ['0.0.0.0/0', '::/0'].map((iPAddress) => subtree({ iPAddress }));
  const constraints = new NameConstraints({
    permittedSubtrees: new GeneralSubtrees(permitted),
    excludedSubtrees: new GeneralSubtrees(excluded),
  });
  const certificatePem = issue({
    subject: name,
    issuer: name,
    publicKey: createPublicKey(key),
    signer: key,
    fromMs: nowMs - SKEW_MS,
    untilMs: nowMs + AUTHORITY_DAYS * DAY_MS,
    extensions: [
      extension(
        id_ce_basicConstraints,
        new BasicConstraints({ cA: true, pathLenConstraint: 0 }),
        true,
      ),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign), true),
      extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
      extension(id_ce_nameConstraints, constraints, true),
    ],
  });
  return { certificatePem, key };
}

/** Creates a certificate for `host` signed by `authority`, valid for ten days from `nowMs`. */
export function createLeaf(
  host: string,
  authority: Identity,
  leafKey: KeyObject,
  nowMs: number,
): string {
  const { tbsCertificate } = parse(authority.certificatePem);
  const names = new SubjectAlternativeName([new GeneralName({ dNSName: host })]);
  return issue({
    subject: commonName(host.slice(0, 64)),
    issuer: tbsCertificate.subject,
    publicKey: createPublicKey(leafKey),
    signer: authority.key,
    fromMs: nowMs - SKEW_MS,
    untilMs: nowMs + LEAF_DAYS * DAY_MS,
    extensions: [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
      extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
      extension(id_ce_subjectAltName, names),
    ],
  });
}

/** Returns the names that an authority may vouch for. Throws if the text is not a certificate. */
export function permittedHosts(certificatePem: string): readonly string[] {
  const { extensions } = parse(certificatePem).tbsCertificate;
  const found = extensions?.find(({ extnID }) => extnID === id_ce_nameConstraints);
  if (found === undefined) return [];
  const { permittedSubtrees } = AsnConvert.parse(found.extnValue, NameConstraints);
  return Array.from(permittedSubtrees ?? [], ({ base }) => base.dNSName ?? []).flat();
}

interface CertificateParts {
  readonly subject: Name;
  readonly issuer: Name;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly extensions: readonly Extension[];
}

function issue({ publicKey, signer, ...parts }: CertificateParts): string {
  const spki = AsnConvert.parse(spkiOf(publicKey), SubjectPublicKeyInfo);
  const authorityKey = keyId(
    AsnConvert.parse(spkiOf(createPublicKey(signer)), SubjectPublicKeyInfo),
  );
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serial(),
    signature: algorithm,
    issuer: parts.issuer,
    validity: new Validity({
      notBefore: wholeSecond(parts.fromMs),
      notAfter: wholeSecond(parts.untilMs),
    }),
    subject: parts.subject,
    subjectPublicKeyInfo: spki,
    extensions: new Extensions([
      ...parts.extensions,
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(spki))),
      extension(
        id_ce_authorityKeyIdentifier,
        new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(authorityKey) }),
      ),
    ]),
  });
  const signature = sign('sha256', new Uint8Array(AsnConvert.serialize(tbsCertificate)), signer);
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: toArrayBuffer(signature),
  });
  return toPem(Buffer.from(AsnConvert.serialize(certificate)));
}

function extension(extnID: string, value: unknown, critical = false): Extension {
  const extnValue = new OctetString(AsnConvert.serialize(value));
  return new Extension({ extnID, critical, extnValue });
}

function subtree(name: { readonly dNSName: string } | { readonly iPAddress: string }) {
  return new GeneralSubtree({ base: new GeneralName(name) });
}

function commonName(text: string): Name {
  const value = new AttributeValue({ utf8String: text });
  const attribute = new AttributeTypeAndValue({ type: COMMON_NAME, value });
  return new Name([new RelativeDistinguishedName([attribute])]);
}

/** Hash of the public key bits, as in §4.2.1.2 (1). */
function keyId({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer {
  return toArrayBuffer(createHash('sha1').update(new Uint8Array(subjectPublicKey)).digest());
}

/** Random, positive, and without a leading zero byte, which a strict parser would reject. */
function serial(): ArrayBuffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return toArrayBuffer(bytes);
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / 1000) * 1000);
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function parse(pem: string): Certificate {
  const text = pem.replaceAll(/-----[A-Z ]+-----|\s/g, '');
  return AsnConvert.parse(Buffer.from(text, 'base64'), Certificate);
}
