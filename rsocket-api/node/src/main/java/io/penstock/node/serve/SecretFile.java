package io.penstock.node.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;

/// A file with a secret in its first line, which its user alone may read.
final class SecretFile {
  private static final int BYTES = 32;
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private SecretFile() {}

  /// Makes `file` with a random secret. Does nothing if another process has just made it.
  static void make(Path file, SecureRandom random) throws IOException {
    byte[] secret = new byte[BYTES];
    random.nextBytes(secret);
    ByteBuffer line = ByteBuffer.wrap((HexFormat.of().formatHex(secret) + "\n").getBytes(StandardCharsets.US_ASCII));
    try (SeekableByteChannel channel = create(file)) {
      channel.write(line); // so short that it is written whole
    } catch (FileAlreadyExistsException e) {
      return;
    }
  }

  private static SeekableByteChannel create(Path file) throws IOException {
    Set<OpenOption> creating = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try {
      return Files.newByteChannel(file, creating, OWNER_ALONE);
    } catch (UnsupportedOperationException e) { // a file system without owners
      return Files.newByteChannel(file, creating);
    }
  }
}
