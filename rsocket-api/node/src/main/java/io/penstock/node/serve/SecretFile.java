package io.penstock.node.serve;

import io.penstock.node.cli.OwnerFile;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/// The file of the secret that owns a rank at a registry.
final class SecretFile {
  private static final int BYTES = 32;

  private SecretFile() {}

  /// Creates `file` with a random secret. Does nothing if another process has just created it.
  static void make(Path file, SecureRandom random) throws IOException {
    byte[] secret = new byte[BYTES];
    random.nextBytes(secret);
    try {
      OwnerFile.create(file, HexFormat.of().formatHex(secret));
    } catch (FileAlreadyExistsException e) {
      return;
    }
  }
}
