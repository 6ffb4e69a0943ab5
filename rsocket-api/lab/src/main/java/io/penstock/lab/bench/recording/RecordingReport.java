package io.penstock.lab.bench.recording;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// What a [RecordingBench] found: medians.
///
/// @param bytes put, and read, in a turn
record RecordingReport(String penstock, int blockBytes, long bytes, int rounds, List<Mode> modes)
    implements
      Bench.Report {
  private static final double MIB = 1 << 20;

  /// @param recorded what the node recorded
  /// @param putBytesPerSecond over loopback sockets
  /// @param readBytesPerSecond over loopback sockets, every byte compared
  /// @param lost part of the throughput of both that it costs: the median of the rounds, each against a node that
  ///   records nothing in the same round
  /// @param mostLost part that it may cost
  /// @param events in a recording that was read to its end
  /// @param missed events that were left out in all rounds
  record Mode(String recorded, double putBytesPerSecond, double readBytesPerSecond, double lost, double mostLost,
      long events, long missed) {
    String verdict() {
      return "%s: %s lost, %s %s%s".formatted(recorded, percent(lost), percent(mostLost), lost <= mostLost
          ? "allowed"
          : "EXCEEDED", missed == 0 ? "" : ", %,d events LEFT OUT".formatted(missed));
    }

    boolean isCheap() {
      return lost <= mostLost && missed == 0;
    }
  }

  RecordingReport {
    modes = List.copyOf(modes);
  }

  static RecordingReport of(RecordedLoad load, List<Mode> modes) {
    return new RecordingReport(PenstockVersion.current(), load.blockBytes(), (long) load.blockBytes() * load.blocks(),
        load.rounds(), modes);
  }

  @Override
  public String table() {
    TextTable table = new TextTable("RECORDED", "PUT", "READ", "LOST", "AT MOST", "EVENTS", "LEFT OUT");
    modes.forEach(mode -> table.row(mode.recorded(), rate(mode.putBytesPerSecond()), rate(mode.readBytesPerSecond()),
        mode.mostLost() == 0 ? "" : percent(mode.lost()), mode.mostLost() == 0 ? "" : percent(mode.mostLost()),
        mode.events() == 0 ? "" : mode.events(), mode.missed() == 0 ? "" : mode.missed()));
    return table + String.format(Locale.ROOT, "%nblocks of %d KiB, %.0f MiB a turn; medians of %d rounds by turns%n",
        blockBytes >> 10, bytes / MIB, rounds)
        + modes.stream().filter(mode -> mode.mostLost() > 0).map(Mode::verdict)
            .collect(Collectors.joining("; ", "", "\n"));
  }

  private static String rate(double bytes) {
    return String.format(Locale.ROOT, "%.0f MiB/s", bytes / MIB);
  }

  private static String percent(double part) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * part);
  }

  @Override
  public boolean meetsTargets() {
    return modes.stream().allMatch(Mode::isCheap);
  }
}
