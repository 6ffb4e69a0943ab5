package io.penstock.wire.rank;

import io.penstock.disagg.registry.RankOwner;
import java.security.SecureRandom;

/// Secret by which a registry without users knows the owner of a rank. A process that shows it again after a restart
/// has its rank back at once; another has to wait until the rank is free. Its text never has the secret in it.
public final class RankSecret {
  private static final int BYTES = 32;

  private final byte[] bytes;

  private RankSecret(byte[] bytes) {
    this.bytes = bytes;
  }

  /// A secret that no other process has.
  public static RankSecret random(SecureRandom random) {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return new RankSecret(bytes);
  }

  /// A secret that is kept elsewhere.
  ///
  /// @throws IllegalArgumentException if it has too few or too many bytes
  public static RankSecret of(byte[] bytes) {
    var _ = RankOwner.ofSecret(bytes);
    return new RankSecret(bytes.clone());
  }

  byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public String toString() {
    return "a secret of a rank";
  }
}
