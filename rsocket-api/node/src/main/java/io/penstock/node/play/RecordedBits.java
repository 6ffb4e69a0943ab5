package io.penstock.node.play;

import io.penstock.recording.RecordedEvent;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// The presences in the numbers of an event: for each the number of its words, and these.
record RecordedBits(List<BitSet> presences) {
  /// Of `LEASED`.
  static final int HITS = 0;
  static final int ADMITTED = 2;

  /// @param from place of the first presence
  static RecordedBits of(RecordedEvent event, int from) {
    List<BitSet> presences = new ArrayList<>();
    for (int at = from; at < event.size(); at++) {
      long[] words = new long[(int) event.number(at)];
      for (int i = 0; i < words.length; i++) {
        words[i] = event.number(++at);
      }
      presences.add(BitSet.valueOf(words));
    }
    return new RecordedBits(presences);
  }

  boolean has(int presence, int position) {
    return presence < presences.size() && presences.get(presence).get(position);
  }
}
