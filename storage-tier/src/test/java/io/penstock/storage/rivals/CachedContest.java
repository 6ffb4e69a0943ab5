package io.penstock.storage.rivals;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/// Blocks chosen by chance are read from files that the system has in its cache, all of them, each rival in turn.
final class CachedContest {
  private final Contest contest;
  private final Path folder;
  private final List<RivalKind> kinds;

  CachedContest(Contest contest, Path folder, List<RivalKind> kinds) {
    this.kinds = kinds;
    this.contest = contest;
    this.folder = folder.resolve("read");
  }

  Comparison run(int warm, int rounds) {
    Comparison comparison = new Comparison("read cached", contest.blockBytes());
    Rounds.delete(folder);
    Map<RivalKind, Rival> rivals = new EnumMap<>(RivalKind.class);
    try (Sources sources = new Sources(contest);
        Readers readers = new Readers(contest, sources, 2 * contest.threads())) {
      for (RivalKind kind : kinds) {
        rivals.put(kind, filled(kind, sources));
      }
      for (int round = -warm; round < rounds; round++) {
        for (RivalKind kind : Rounds.rotated(kinds, round)) {
          double rate = read(rivals.get(kind), readers, round);
          if (round >= 0) {
            comparison.round(kind.label(), rate);
          }
        }
      }
    } finally {
      rivals.values().forEach(Rival::close);
      Rounds.delete(folder);
    }
    return comparison;
  }

  private Rival filled(RivalKind kind, Sources sources) {
    Rival rival = kind.open(folder.resolve(kind.name()), contest);
    Rounds.append(rival, contest, sources);
    rival.written();
    return rival;
  }

  /// A rival with threads of its own always has a batch that waits for them.
  private double read(Rival rival, Readers readers, long seed) {
    int many = rival.hasThreads() ? 2 * contest.threads() : contest.threads();
    int each = contest.batches() / many;
    return readers.read(rival, many, each, contest.batchBlocks(),
        (reader, read) -> new SplittableRandom(seed + (long) reader * each + read)
            .ints(contest.batchBlocks(), 0, contest.blocks()).toArray());
  }
}
