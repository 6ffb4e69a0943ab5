package io.penstock.node.play;

import io.penstock.node.cli.DataException;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.node.tiers.TierChange;
import io.penstock.recording.Player;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.RecordingReader;
import io.penstock.tier.Medium;
import io.penstock.tier.TierStat;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Compares recorded tiers with tiers of another policy or size under the same calls.
final class ChangedRun {
  private ChangedRun() {}

  /// Runs the calls of `recording` on its tiers with and without the change, and plays it once.
  static ChangeReport compare(Path recording, TierChange change) {
    List<String> unknown = new ArrayList<>();
    TierFigures before = run(recording, TierChange.NONE, new ArrayList<>());
    TierFigures after = run(recording, change, unknown);
    return new ChangeReport(recording.toString(), change.toString(), recorded(recording), before, after, unknown);
  }

  private static TierFigures run(Path recording, TierChange change, List<String> unknown) {
    RecordedTimes times = times(recording);
    tell(times, change, unknown);
    RecordedCalls calls = new RecordedCalls(times, new PlayedTiers(change));
    try (RecordingReader events = RecordingReader.open(recording)) {
      List<RecordedEvent> turn = new ArrayList<>();
      while (events.hasNext()) {
        RecordedEvent event = events.next();
        if (event.kind() == Kind.GAP) {
          if (!calls.hasTiers()) {
            throw new DataException("recording %s must have its beginning (is missing)".formatted(recording));
          }
          unknown.add("events are missing in the recording: it is played up to there");
          turn.clear(); // what is there of the turn may not be all
          break;
        }
        if (event.begins() && !turn.isEmpty()) {
          calls.turn(List.copyOf(turn));
          turn.clear();
        }
        if (!event.isSignal()) {
          turn.add(event);
        }
      }
      if (!turn.isEmpty()) {
        calls.turn(List.copyOf(turn));
      }
    }
    return calls.finish();
  }

  private static RecordedTimes times(Path recording) {
    try (RecordingReader events = RecordingReader.open(recording)) {
      return new RecordedTimes(events);
    }
  }

  /// Names what the recording cannot tell of the change.
  private static void tell(RecordedTimes times, TierChange change, List<String> unknown) {
    if (change.ssd() != null && !times.knows(Medium.DISK, Kind.STORE_READ)) {
      unknown.add("no read of a disk was recorded: reads of the disk take no time here");
    }
    if (change.ssd() != null && !times.knows(Medium.DISK, Kind.STORE_PUT)) {
      unknown.add("no write of a disk was recorded: writes to the disk take no time here");
    }
    if (change.hbm() != null && !times.knows(Medium.DEVICE, Kind.STORE_PUT)) {
      unknown.add("no copy of a device was recorded: copies take no time here");
    }
    if (times.storeTroubles() > 0) {
      unknown.add("%,d operations of stores failed or found damage when it was recorded: none does here".formatted(
          times.storeTroubles()));
    }
    unknown.add("latencies are those of the recorded load: a disk that is asked more often does not get slower here");
    unknown.add("callers come when they came: a caller that got its blocks sooner would have asked sooner");
    unknown.add(times.putsMisses()
        ? "callers put what they miss, as they put %,d of the %,d blocks that they missed when it was recorded"
            .formatted(
                times.missesPut(), times.misses())
        : "callers put nothing more, as they put only %,d of the %,d blocks that they missed when it was recorded"
            .formatted(times.missesPut(), times.misses()));
  }

  /// What the recorded tiers did, from a playing that must be equal; null if it is not.
  private static @Nullable TierFigures recorded(Path recording) {
    RecordedTimes times = times(recording);
    Map<Integer, TierStat> stats = new TreeMap<>();
    Player.Outcome outcome;
    try (RecordingReader events = RecordingReader.open(recording)) {
      Player[] playing = new Player[1];
      try (Player player = new Player(events, new PlayedTiers(), events.payloads(), new Player.Follower() {
        @Override
        public boolean plays(long first, long last, RecordedEvent begin) {
          if (begin.kind() != Kind.SHUT) {
            return true;
          }
          stats.putAll(playing[0].stats());
          return false;
        }
      })) {
        playing[0] = player;
        outcome = player.play();
        if (!outcome.stopped()) {
          stats.putAll(player.stats());
        }
      }
    }
    if (outcome.difference() != null) {
      return null;
    }
    Map<String, Long> hits = new LinkedHashMap<>();
    stats.values().forEach(
        stat -> stat.levels().forEach(level -> hits.merge(level.name(), level.hits(), Long::sum)));
    return new TierFigures(hits, stats.values().stream().mapToLong(TierStat::misses).sum(),
        stats.values().stream().mapToLong(TierStat::evicted).sum(), times.moved(), times.diskBytes(), times.slowest(),
        times.unanswered(), times.refused());
  }
}
