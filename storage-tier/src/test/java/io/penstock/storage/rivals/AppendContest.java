package io.penstock.storage.rivals;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// All blocks are put into a new place, each rival in turn.
final class AppendContest {
  private final Contest contest;
  private final Path folder;
  private final List<RivalKind> kinds;

  AppendContest(Contest contest, Path folder, List<RivalKind> kinds) {
    this.contest = contest;
    this.kinds = kinds;
    this.folder = folder.resolve("append");
  }

  Comparison run(int warm, int rounds) {
    Comparison comparison =
        new Comparison("append " + contest.rule().mode().name().toLowerCase(Locale.ROOT), contest.blockBytes());
    try (Sources sources = new Sources(contest)) {
      for (int round = -warm; round < rounds; round++) {
        for (RivalKind kind : Rounds.rotated(kinds, round)) {
          double rate = rate(kind, sources);
          if (round >= 0) {
            comparison.round(kind.label(), rate);
          }
        }
      }
    }
    return comparison;
  }

  private double rate(RivalKind kind, Sources sources) {
    Rounds.delete(folder);
    try (Rival rival = kind.open(folder, contest)) {
      return Rounds.append(rival, contest, sources);
    } finally {
      Rounds.delete(folder);
    }
  }
}
