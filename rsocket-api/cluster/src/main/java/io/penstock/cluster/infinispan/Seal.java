package io.penstock.cluster.infinispan;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/// Seals bytes for the members of a cluster, and opens what they sealed: AES-256 in GCM. Safe from any thread.
///
/// | Bytes | |
/// |---|---|
/// | 16 | random number of the sender's start, from which its key is derived |
/// | 8 | number of the message, the nonce: it never comes twice under one key |
/// | rest | ciphertext and tag |
final class Seal {
  private static final int SENDER_BYTES = 16;
  private static final int HEADER_BYTES = SENDER_BYTES + Long.BYTES;
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final int MOST_SENDERS = 4096;

  private final ClusterKeys keys;
  private final byte[] sender;
  private final SecretKey ours;
  private final AtomicLong messages = new AtomicLong();
  private final Map<ByteBuffer, SecretKey> senders = new ConcurrentHashMap<>();
  private final Queue<Cipher> ciphers = new ConcurrentLinkedQueue<>();

  /// @param sender 16 random bytes, never used before
  Seal(ClusterKeys keys, byte[] sender) throws GeneralSecurityException {
    this.keys = keys;
    this.sender = sender.clone();
    this.ours = keys.forSender(sender);
  }

  byte[] seal(byte[] plain, int offset, int length) throws GeneralSecurityException {
    long number = messages.getAndIncrement();
    byte[] sealed = new byte[HEADER_BYTES + length + TAG_BITS / Byte.SIZE];
    ByteBuffer.wrap(sealed).put(sender).putLong(number);
    Cipher cipher = cipher(Cipher.ENCRYPT_MODE, ours, number);
    cipher.doFinal(plain, offset, length, sealed, HEADER_BYTES);
    ciphers.add(cipher);
    return sealed;
  }

  /// @throws GeneralSecurityException if the bytes were not sealed with the secret of this cluster
  byte[] open(byte[] sealed, int offset, int length) throws GeneralSecurityException {
    if (length < HEADER_BYTES) {
      throw new AEADBadTagException("message must have " + HEADER_BYTES + " bytes (had " + length + ")");
    }
    ByteBuffer header = ByteBuffer.wrap(sealed, offset, length);
    byte[] from = new byte[SENDER_BYTES];
    header.get(from);
    SecretKey known = senders.get(ByteBuffer.wrap(from));
    SecretKey key = known != null ? known : keys.forSender(from);
    Cipher cipher = cipher(Cipher.DECRYPT_MODE, key, header.getLong());
    byte[] plain = cipher.doFinal(sealed, offset + HEADER_BYTES, length - HEADER_BYTES);
    ciphers.add(cipher);
    if (known == null) {
      remember(from, key);
    }
    return plain;
  }

  /// Remembers keys of senders that proved to have the secret, for no other comes this far.
  private void remember(byte[] from, SecretKey key) {
    if (senders.size() >= MOST_SENDERS) {
      senders.clear();
    }
    senders.put(ByteBuffer.wrap(from), key);
  }

  private Cipher cipher(int mode, SecretKey key, long number) throws GeneralSecurityException {
    Cipher free = ciphers.poll();
    Cipher cipher = free != null ? free : Cipher.getInstance("AES/GCM/NoPadding");
    byte[] nonce = ByteBuffer.allocate(NONCE_BYTES).putLong(NONCE_BYTES - Long.BYTES, number).array();
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    return cipher;
  }
}
