package io.penstock.node.cli;

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
import java.util.Set;

/// A file with a secret in its first line, which only its owner may read, where the file system knows owners.
public final class OwnerFile {
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private OwnerFile() {}

  /// Creates `file` with one line.
  ///
  /// @throws FileAlreadyExistsException if it is there
  public static void create(Path file, String line) throws IOException {
    try (SeekableByteChannel channel = open(file)) {
      ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
      channel.write(bytes); // so short that it is written whole
    }
  }

  private static SeekableByteChannel open(Path file) throws IOException {
    Set<OpenOption> creating = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try {
      return Files.newByteChannel(file, creating, OWNER_ALONE);
    } catch (UnsupportedOperationException e) { // a file system without owners
      return Files.newByteChannel(file, creating);
    }
  }
}
