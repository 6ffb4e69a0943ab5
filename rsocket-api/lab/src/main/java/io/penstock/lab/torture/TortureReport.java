package io.penstock.lab.torture;

import java.util.List;

/// What a torture found.
///
/// @param kept whether every promise was kept, all kills done
/// @param engine that kept the records
/// @param durability that receipts promised
/// @param seed from which everything was drawn
/// @param kills writers that were ended
/// @param receipts blocks that writers were given a receipt for
/// @param removals blocks whose removal was settled
/// @param refused puts refused for want of room
/// @param checked blocks that had to be there, over all checks
/// @param read blocks that were there, each read whole
/// @param broken promises that were not kept
/// @param recovery how long openings took
/// @param phases in which writers were ended
/// @param findings the first broken promises, in words
record TortureReport(boolean kept, String engine, String durability, long seed, int kills, long receipts, long removals,
    long refused,
    long checked, long read, Broken broken, Recovery recovery, List<PhaseKills> phases, List<String> findings) {
  /// Report on unfinished work, which proves nothing yet.
  TortureReport soFar() {
    return new TortureReport(false, engine, durability, seed, kills, receipts, removals, refused, checked, read, broken,
        recovery, phases, findings);
  }

  /// Promises that were not kept.
  ///
  /// @param lost had a receipt and could not be read
  /// @param partial had no receipt, were visible and could not be read
  /// @param wrong were served with bytes that were never put
  /// @param cameBack were there, though their removal was settled
  /// @param damaged blocks that count, of which a check of all bytes said that they are damaged
  /// @param failures of writers and openings that ended by themselves
  record Broken(long lost, long partial, long wrong, long cameBack, long damaged, long failures) {
    boolean isNothing() {
      return lost + partial + wrong + cameBack + damaged + failures == 0;
    }
  }

  /// How long openings took after a kill.
  ///
  /// @param journalBytes of the files that were opened, on average
  /// @param secondsPerGigabyte of those files, all openings together
  record Recovery(double medianMillis, double worstMillis, long journalBytes, double secondsPerGigabyte) {}

  /// @param aimed kills that were meant for this phase; of `idle`, those at any time
  /// @param fell kills that found the writer in it
  record PhaseKills(String phase, int aimed, int fell) {}
}
