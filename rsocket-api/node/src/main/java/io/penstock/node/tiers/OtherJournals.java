package io.penstock.node.tiers;

import io.penstock.node.text.Sizes;
import io.penstock.storage.engine.file.JournalFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Journals in the folder of a disk that no space of the node has: a space was renamed or left out since.
///
/// @param folder of the disk
/// @param bytes of the files of each such journal, by its folder
record OtherJournals(Path folder, Map<Path, Long> bytes) {
  /// Those beside the journals in `own`.
  ///
  /// @throws IOException if the folder cannot be read
  static OtherJournals beside(Set<Path> own, Path folder) throws IOException {
    Map<Path, Long> bytes = new TreeMap<>();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> inside = Files.list(folder)) {
        for (Path each : Stream.concat(Stream.of(folder), inside).filter(Files::isDirectory).toList()) {
          if (!own.contains(each) && JournalFiles.isJournal(each)) {
            bytes.put(each, bytes(each, each.equals(folder) ? 1 : Integer.MAX_VALUE));
          }
        }
      } catch (UncheckedIOException e) {
        throw e.getCause();
      }
    }
    return new OtherJournals(folder, bytes);
  }

  private static long bytes(Path journal, int depth) {
    try (Stream<Path> files = Files.walk(journal, depth)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// What to do about them, in one line; empty if there are none.
  Optional<String> advice() {
    String all = bytes.entrySet().stream().map(each -> each.getKey() + ", " + Sizes.human(each.getValue()))
        .collect(Collectors.joining("; "));
    String spaces = "name a space as such a folder to have its blocks again, or delete the folder";
    String itself = "the files of %s itself are of a node without spaces: serve them without spaces, or delete them"
        .formatted(folder);
    return bytes.isEmpty()
        ? Optional.empty()
        : Optional.of("ssd.dir must have journals of the spaces of this node alone (has also: " + all + "): "
            + (!bytes.containsKey(folder) ? spaces : bytes.size() == 1 ? itself : spaces + "; " + itself));
  }
}
