package io.penstock.lab.bench.disk;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.Turns;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/// What a [RecoveryBench] found: medians.
///
/// @param penstock version
/// @param engine of the journal
/// @param blockBytes bytes of a block
/// @param segmentBytes bytes of a segment, at most
/// @param segments how many there are
/// @param bytes of their files
/// @param blocks that count
/// @param cold whether the system had nothing of the files in its cache
/// @param rounds of which these are the medians
/// @param sequentialRead of the segments' files, one after the other, in pieces as the check reads them, on one thread
/// @param check of every byte
/// @param open with a checkpoint of each segment
/// @param openWithout with none: every head
/// @param judged whether the files are many enough to be judged by: of few, opening and checking are what every opening
///     and checking costs
record RecoveryReport(String penstock, String engine, int blockBytes, long segmentBytes, int segments, long bytes,
    long blocks, boolean cold, int rounds,
    Figure sequentialRead, Figure check, Figure open, Figure openWithout, boolean judged) implements Bench.Report {
  /// Bytes of files that are judged.
  static final long LEAST_JUDGED = 1L << 30;
  private static final double TEN_GB = 1e10;
  private static final double MOST_CHECK = 1.25;
  private static final double MOST_OPEN_SECONDS = 1;
  private static final double MOST_OPEN_WITHOUT_SECONDS = 3;

  /// @param seconds that it took
  /// @param secondsPerTenGigabytes of files
  /// @param timesSequentialRead of the same round
  record Figure(double seconds, double secondsPerTenGigabytes, double timesSequentialRead) {}

  /// The journal that was measured.
  record Journal(int segments, long bytes, long blocks) {}

  /// One round, in seconds.
  record Round(double read, double check, double open, double openWithout) {}

  static RecoveryReport of(RecoveryLoad load, Journal journal, List<Round> rounds) {
    return new RecoveryReport(PenstockVersion.current(), load.engine().name().toLowerCase(Locale.ROOT),
        load.blockBytes(), load.segmentBytes(),
        journal.segments(), journal.bytes(), journal.blocks(), load.cold(), rounds.size(),
        figure(journal, rounds, Round::read),
        figure(journal, rounds, Round::check), figure(journal, rounds, Round::open),
        figure(journal, rounds, Round::openWithout),
        journal.bytes() >= LEAST_JUDGED);
  }

  private static Figure figure(Journal journal, List<Round> rounds, ToDoubleFunction<Round> of) {
    double seconds = median(rounds, of);
    return new Figure(seconds, seconds * TEN_GB / journal.bytes(),
        median(rounds, round -> of.applyAsDouble(round) / round.read()));
  }

  private static double median(List<Round> rounds, ToDoubleFunction<Round> of) {
    return Turns.median(rounds.stream().mapToDouble(of).toArray());
  }

  boolean checksFast() {
    return check.timesSequentialRead() <= MOST_CHECK;
  }

  boolean opensFast() {
    return open.secondsPerTenGigabytes() <= MOST_OPEN_SECONDS;
  }

  boolean opensFastWithout() {
    return openWithout.secondsPerTenGigabytes() <= MOST_OPEN_WITHOUT_SECONDS;
  }

  @Override
  public String table() {
    return RecoveryTable.of(this);
  }

  @Override
  public boolean meetsTargets() {
    return !judged() || (checksFast() && opensFast() && opensFastWithout());
  }
}
