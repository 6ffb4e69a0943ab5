package io.penstock.node.play;

import io.penstock.node.text.Plural;
import io.penstock.recording.check.LinkCheck;
import io.penstock.recording.check.LinkCheck.Pair;
import io.penstock.storage.recording.RecordingReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Links between processes whose recordings are played together: what one end sent, the other received.
///
/// @param links of which both ends were recorded
/// @param messages that both ends recorded
/// @param unseen messages that one end did not record: it began later, or ended earlier
/// @param differences the first of each link that has one
record PlayedLinks(int links, long messages, long unseen, List<String> differences) {
  /// Compares the links of each two recordings. Among more than two, ends without addresses, such as those of Unix
  /// domain sockets, are left out: which of them belong together is not known.
  static PlayedLinks of(List<Path> recordings) {
    int links = 0;
    long messages = 0;
    long unseen = 0;
    List<String> differences = new ArrayList<>();
    for (int one = 0; one < recordings.size(); one++) {
      for (int other = one + 1; other < recordings.size(); other++) {
        for (Pair pair : pairs(recordings.get(one), recordings.get(other))) {
          if (pair.compared() > 0 && (pair.byAddress() || recordings.size() == 2)) {
            links++;
            messages += pair.compared();
            unseen += pair.unseen();
            String between = recordings.get(one) + " and " + recordings.get(other) + ": ";
            pair.difference().map(between::concat).ifPresent(differences::add);
          }
        }
      }
    }
    return new PlayedLinks(links, messages, unseen, List.copyOf(differences));
  }

  private static List<Pair> pairs(Path one, Path other) {
    try (RecordingReader first = RecordingReader.open(one); RecordingReader second = RecordingReader.open(other)) {
      return LinkCheck.of(first, second);
    }
  }

  boolean isEqual() {
    return differences.isEmpty();
  }

  String text() {
    return "%s between them: %,d messages %s, %,d recorded at one end alone".formatted(Plural.of(links, "link"),
        messages, isEqual() ? "were received as they were sent" : "compared, some DIFFERENT", unseen);
  }
}
