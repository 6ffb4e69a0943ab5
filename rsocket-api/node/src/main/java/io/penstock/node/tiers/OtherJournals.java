package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.node.text.Reason;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Journals in the folder of a disk that no space of the node has: a space was renamed or left out since.
///
/// @param folder of the disk
/// @param bytes of the files of each such journal, by its folder
record OtherJournals(Path folder, Map<Path, Long> bytes) {
  private static final Logger LOG = LoggerFactory.getLogger(OtherJournals.class);

  /// Those beside the journals in `own`. What cannot be read of one is left out, with a line in the log.
  ///
  /// @throws IOException if the folder cannot be read
  static OtherJournals beside(Set<Path> own, Path folder) throws IOException {
    Map<Path, Long> bytes = new TreeMap<>();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> inside = Files.list(folder)) {
        for (Path each : Stream.concat(Stream.of(folder), inside).filter(Files::isDirectory).toList()) {
          if (!own.contains(each) && isJournal(each)) {
            bytes.put(each, JournalFiles.bytes(each, OtherJournals::leftOut));
          }
        }
      } catch (UncheckedIOException e) {
        throw e.getCause();
      }
    }
    return new OtherJournals(folder, bytes);
  }

  private static boolean isJournal(Path each) {
    try {
      return JournalFiles.isJournal(each);
    } catch (UncheckedIOException e) {
      leftOut(each, requireNonNull(e.getCause()));
      return false;
    }
  }

  private static void leftOut(Path file, IOException failure) {
    LOG.warn("{} is not counted with the journals of other spaces: {}", file, Reason.of(failure));
  }

  /// What to do about them, in one line; empty if there are none.
  Optional<String> advice() {
    String all = bytes.entrySet().stream().map(each -> each.getKey() + ", " + Sizes.human(each.getValue()))
        .collect(Collectors.joining("; "));
    String spaces = "name a space as such a folder to have its blocks again";
    String itself = "serve without spaces to have the blocks of %s itself again".formatted(folder);
    return bytes.isEmpty()
        ? Optional.empty()
        : Optional.of("ssd.dir must have journals of the spaces of this node alone (has also: " + all + "): "
            + (!bytes.containsKey(folder) ? spaces : bytes.size() == 1 ? itself : spaces + ", " + itself)
            + ", or delete what no other node uses");
  }
}
