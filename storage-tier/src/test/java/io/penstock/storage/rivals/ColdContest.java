package io.penstock.storage.rivals;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Blocks chosen by chance, each at most once, are read from files of which the system has nothing in its cache, eight at a time.
final class ColdContest {
  static final String FIO_DIRECT = "fio direct, depth 8";
  static final String FIO_BUFFERED = "fio buffered, 8 threads";

  private static final List<RivalKind> RIVALS = List.of(RivalKind.CHRONICLE, RivalKind.PLAIN, RivalKind.MAPPED_FILE, RivalKind.FILE);
  /// What of the blocks is read in a round.
  private static final int SHARE = 4;

  private final Contest contest;
  private final Path folder;
  private final PrintStream out;

  ColdContest(Contest contest, Path folder, PrintStream out) {
    this.contest = contest;
    this.folder = folder.resolve("cold");
    this.out = out;
  }

  Comparison run(int warm, int rounds) {
    Comparison comparison = new Comparison("read cold", contest.blockBytes());
    boolean fio = Fio.isThere();
    if (!fio) {
      out.println("read cold: fio is not installed, so nothing is compared with it");
    }
    Rounds.delete(folder);
    Map<RivalKind, Rival> rivals = new EnumMap<>(RivalKind.class);
    try (Sources sources = new Sources(contest)) {
      for (RivalKind kind : RIVALS) {
        rivals.put(kind, filled(kind, sources));
      }
      for (int round = -warm; round < rounds; round++) {
        Comparison into = round < 0 ? new Comparison("warming", contest.blockBytes()) : comparison;
        for (RivalKind kind : RIVALS) {
          if (!PageCache.forget(folder)) {
            out.println("read cold: nothing here empties the cache of a file (dd of GNU does), so nothing is read cold");
            return comparison;
          }
          into.round(kind.label(), Rounds.readEach(rivals.get(kind), contest, sources, order(round)));
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

  private Rival filled(RivalKind kind, Sources sources) {
    Rival rival = kind.open(folder.resolve(kind.name()), contest);
    Rounds.append(rival, contest, sources);
    rival.written();
    return rival;
  }

  private int[] order(int round) {
    List<Integer> all = IntStream.range(0, contest.blocks()).boxed().collect(Collectors.toList());
    java.util.Collections.shuffle(all, new Random(round));
    return all.stream().limit(Math.max(contest.threads(), contest.blocks() / SHARE)).mapToInt(Integer::intValue).toArray();
  }

  /// Reads the longest file of the store on Chronicle.
  private void fio(Comparison into, int round) {
    Path file = segment();
    long bytes = contest.bytes() / SHARE;
    PageCache.forget(folder);
    into.round(FIO_DIRECT, Fio.direct(file, contest.blockBytes(), bytes, round + 100));
    PageCache.forget(folder);
    into.round(FIO_BUFFERED, Fio.buffered(file, contest.blockBytes(), contest.bytes(), bytes, round + 100));
  }

  private Path segment() {
    try (Stream<Path> files = Files.walk(folder.resolve(RivalKind.CHRONICLE.name()))) {
      return files.filter(Files::isRegularFile).max(Comparator.comparing(Rounds::length)).orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
