package io.penstock.storage.rivals;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Blocks chosen by chance, each at most once, are read from files of which the system has nothing in its cache, eight
/// at a time.
final class ColdContest {
  static final String FIO_DIRECT = "fio direct, depth 8";
  static final String FIO_BUFFERED = "fio buffered, 8 threads";

  /// What of the blocks is read in a round.
  private static final int SHARE = 8;

  private final Contest contest;
  private final Path folder;
  private final List<RivalKind> kinds;
  private final PrintStream out;

  ColdContest(Contest contest, Path folder, List<RivalKind> kinds, PrintStream out) {
    this.contest = contest;
    this.kinds = kinds;
    this.folder = folder.resolve("cold");
    this.out = out;
  }

  Comparison run(int warm, int rounds) {
    Comparison comparison = new Comparison("read cold", contest.blockBytes());
    boolean fio = kinds.contains(RivalKind.FILE) && Fio.isThere();
    if (!fio) {
      out.println("read cold: fio is not installed, so nothing is compared with it");
    }
    Rounds.delete(folder);
    Map<RivalKind, Rival> rivals = new EnumMap<>(RivalKind.class);
    try (Sources sources = new Sources(contest); Readers readers = new Readers(contest, sources, contest.threads())) {
      for (RivalKind kind : kinds) {
        rivals.put(kind, filled(kind, sources));
      }
      for (int round = -warm; round < rounds; round++) {
        Comparison into = round < 0 ? new Comparison("warming", contest.blockBytes()) : comparison;
        for (RivalKind kind : Rounds.rotated(kinds, round)) {
          if (!PageCache.forget(folder)) {
            out.println(
                "read cold: nothing here empties the cache of a file (dd of GNU does), so nothing is read cold");
            return comparison;
          }
          into.round(kind.label(), read(rivals.get(kind), readers, order(round)));
        }
        if (fio) {
          fio(into, round);
        }
      }
    } finally {
      rivals.values().forEach(Rival::close);
      Rounds.delete(folder);
    }
    return comparison;
  }

  private double read(Rival rival, Readers readers, int[] order) {
    int each = order.length / contest.threads();
    return readers.read(rival, contest.threads(), each, 1, (reader, read) -> new int[] {order[reader * each + read]});
  }

  private Rival filled(RivalKind kind, Sources sources) {
    Rival rival = kind.open(folder.resolve(kind.name()), contest);
    Rounds.append(rival, contest, sources);
    rival.written();
    return rival;
  }

  private int[] order(int round) {
    List<Integer> all = IntStream.range(0, contest.blocks()).boxed().collect(Collectors.toList());
    java.util.Collections.shuffle(all, new Random(round));
    return all.stream().limit(Math.max(contest.threads(), contest.blocks() / SHARE)).mapToInt(Integer::intValue)
        .toArray();
  }

  /// Reads the file of all blocks.
  private void fio(Comparison into, int round) {
    Path file = folder.resolve(RivalKind.FILE.name()).resolve(FileRival.NAME);
    long bytes = contest.bytes() / SHARE;
    PageCache.forget(folder);
    into.round(FIO_DIRECT, Fio.direct(file, contest.blockBytes(), bytes, round + 100));
    PageCache.forget(folder);
    into.round(FIO_BUFFERED, Fio.buffered(file, contest.blockBytes(), contest.bytes(), bytes, round + 100));
  }
}
