package io.penstock.storage.rivals;

import io.penstock.block.BlockDraft;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// Blocks chosen by chance are read from files that the system has in its cache, all of them, each rival in turn.
final class CachedContest {
  private static final List<RivalKind> RIVALS =
      List.of(RivalKind.CHRONICLE, RivalKind.PLAIN, RivalKind.ENGINE, RivalKind.MAPPED_FILE, RivalKind.FILE, RivalKind.ROCKSDB);

  private final Contest contest;
  private final Path folder;

  CachedContest(Contest contest, Path folder) {
    this.contest = contest;
    this.folder = folder.resolve("read");
  }

  Comparison run(int warm, int rounds) {
    Comparison comparison = new Comparison("read cached", contest.blockBytes());
    Rounds.delete(folder);
    Map<RivalKind, Rival> rivals = new EnumMap<>(RivalKind.class);
    try (Sources sources = new Sources(contest)) {
      for (RivalKind kind : RIVALS) {
        rivals.put(kind, filled(kind, sources));
      }
      for (int round = -warm; round < rounds; round++) {
        for (RivalKind kind : RIVALS) {
          double rate = Rounds.read(rivals.get(kind), contest, sources, contest.batches(), round);
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
    check(rival, sources);
    return rival;
  }

  /// What a rival gives must be what it got.
  private void check(Rival rival, Sources sources) {
    int[] some = {contest.blocks() - 1};
    List<BlockDraft> drafts = sources.drafts(some);
    rival.read(some, drafts).block();
    drafts.forEach(sources::check);
    sources.done(drafts);
  }
}
