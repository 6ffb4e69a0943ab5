package io.penstock.node.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// A file with a secret, which only its owner may read, where the file system knows owners.
public final class OwnerFile {
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final Set<PosixFilePermission> OF_OWNER = PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OF_OWNER_AND_GROUP = PosixFilePermissions.fromString("rwxr-x---");
  private static final String UID = "unix:uid";
  private static final Integer ROOT = 0;
  private static final Path THIS_PROCESS = Path.of("/proc/self");

  private OwnerFile() {}

  /// Creates `file` with one line.
  ///
  /// @throws FileAlreadyExistsException if it is there
  public static void create(Path file, String line) throws IOException {
    create(file, (line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /// Creates `file`, and forces it to the disk.
  ///
  /// @throws FileAlreadyExistsException if it is there
  public static void create(Path file, byte[] content) throws IOException {
    try (FileChannel channel = open(file)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
  }

  /// The first line of `file`, which must be closed to other users: its owner is the user of this process or root, only
  /// the owner may read or write it, and the group may read what root owns, as secrets of a container are mounted.
  ///
  /// @param setting that names the file
  /// @throws IllegalArgumentException if others may read or write it
  public static String firstLine(String setting, Path file) throws IOException {
    requireClosed(setting, InputFile.of(file.toString()));
    return InputFile.firstLine(file.toString());
  }

  /// All lines of `file`, which must be closed to other users, as for [#firstLine].
  ///
  /// @param setting that names the file
  /// @throws IllegalArgumentException if others may read or write it
  public static List<String> lines(String setting, Path file) throws IOException {
    requireClosed(setting, InputFile.of(file.toString()));
    return Files.readAllLines(file);
  }

  private static void requireClosed(String setting, Path file) throws IOException {
    PosixFileAttributes attributes;
    try {
      attributes = Files.readAttributes(file, PosixFileAttributes.class);
    } catch (UnsupportedOperationException e) { // a file system without owners
      return;
    }
    Object owner = Files.getAttribute(file, UID);
    boolean isOfRoot = owner.equals(ROOT);
    if (!isOfRoot && Files.exists(THIS_PROCESS) && !owner.equals(Files.getAttribute(THIS_PROCESS, UID))) {
      throw new IllegalArgumentException(
          "%s must be owned by the user of this process, or by root (was owned by %s: %s)"
              .formatted(setting, attributes.owner().getName(), file));
    }
    Set<PosixFilePermission> open = EnumSet.noneOf(PosixFilePermission.class);
    open.addAll(attributes.permissions());
    open.removeAll(isOfRoot ? OF_OWNER_AND_GROUP : OF_OWNER);
    if (!open.isEmpty()) {
      throw new IllegalArgumentException("%s must be closed to other users, rw------- for example (was %s: %s)"
          .formatted(setting, PosixFilePermissions.toString(attributes.permissions()), file));
    }
  }

  /// Creates `file` for writing.
  ///
  /// @throws FileAlreadyExistsException if it is there
  public static FileChannel open(Path file) throws IOException {
    Set<OpenOption> creating = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try {
      return FileChannel.open(file, creating, OWNER_ALONE);
    } catch (UnsupportedOperationException e) { // a file system without owners
      return FileChannel.open(file, creating);
    }
  }
}
