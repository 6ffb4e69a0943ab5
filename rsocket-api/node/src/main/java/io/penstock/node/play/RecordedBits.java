package io.penstock.node.play;

import io.penstock.recording.RecordedEvent;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// The presences in the numbers of an event: for each the number of its words, and these.
public record RecordedBits(List<BitSet> presences) {
  /// Of `LEASED`.
  public static final int HITS = 0;
  public static final int ADMITTED = 2;

  /// @param from place of the first presence
  public static RecordedBits of(RecordedEvent event, int from) {
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

  public boolean has(int presence, int position) {
    return presence < presences.size() && presences.get(presence).get(position);
  }
}
