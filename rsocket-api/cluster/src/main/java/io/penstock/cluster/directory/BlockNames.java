package io.penstock.cluster.directory;

import io.penstock.block.BlockKey;
import java.nio.ByteBuffer;

/// Derives the names of blocks from their keys: hash XOR space, then a permutation of 128 bits that depends on a secret
/// of the cluster. Clients choose hashes; without the permutation they could choose some that all meet in one table, or
/// in one part of the map. Immutable.
///
/// The permutation is a Feistel network of four rounds. Its round function is that of [io.penstock.block.BlockHash]:
/// both halves of a product with a secret factor.
public final class BlockNames {
  private static final int ROUNDS = 4;
  /// Bytes of the secret.
  public static final int SECRET_BYTES = ROUNDS * 2 * Long.BYTES;

  private final long[] secret = new long[ROUNDS * 2];

  /// @param secret [#SECRET_BYTES] bytes, the same at all members
  public BlockNames(byte[] secret) {
    if (secret.length != SECRET_BYTES) {
      throw new IllegalArgumentException("secret must be " + SECRET_BYTES + " bytes (was " + secret.length + ")");
    }
    ByteBuffer.wrap(secret).asLongBuffer().get(this.secret);
  }

  /// The name of the block of `key`.
  public BlockName of(BlockKey key) {
    long left = key.space().high() ^ key.hash().high();
    long right = key.space().low() ^ key.hash().low();
    for (int i = 0; i < secret.length; i += 2) {
      long mixed = left ^ product(right ^ secret[i], secret[i + 1] | 1);
      left = right;
      right = mixed;
    }
    return new BlockName(right, left);
  }

  private static long product(long a, long b) {
    return (a * b) ^ Math.unsignedMultiplyHigh(a, b);
  }
}
