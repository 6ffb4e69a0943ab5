package io.penstock.node.serve;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;

/// A file with a secret in its first line, which its user alone may read.
final class SecretFile {
  private static final int BYTES = 32;

  private SecretFile() {}

  /// Makes `file` with a random secret, whole or not at all. Does nothing if another process has just made it.
  static void make(Path file, SecureRandom random) throws IOException {
    byte[] secret = new byte[BYTES];
    random.nextBytes(secret);
    Path folder = file.toAbsolutePath().getParent();
    Path part = Files.createTempFile(folder, ".secret", ".part",
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      Files.writeString(part, HexFormat.of().formatHex(secret) + "\n");
      Files.createLink(file, part); // never replaces a file
    } catch (FileAlreadyExistsException e) {
      return;
    } finally {
      Files.delete(part);
    }
  }
}
