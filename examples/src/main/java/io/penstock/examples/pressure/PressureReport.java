package io.penstock.examples.pressure;

import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import io.penstock.storage.disk.SyncMode;
import io.penstock.tier.TierStat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a [PressureRun] saw.
///
/// @param blocks distinct ones, each put once
/// @param blockBytes bytes of each
/// @param memoryBytes all host memory of the stack
/// @param baseline the same bytes elsewhere, in the same run; null figures where it was left out
/// @param rates of the puts into the stack
/// @param refused blocks whose put failed
/// @param refusal why the first of those failed; null if none did
/// @param lost blocks that the tier says are gone
/// @param invisible blocks that were not there right after their receipt
/// @param meanwhile blocks read while others were put
/// @param afterwards every block, read once all were put
/// @param levels figures right after the last receipt, fastest first
/// @param leakedBlocks blocks of host memory not given back after the end
record PressureReport(EngineKind engine, StackOptions.Mode mode, SyncMode durability, int blocks, int blockBytes,
    long memoryBytes, Baseline baseline,
    Rates rates, long refused, @Nullable String refusal, long lost, long invisible, Reads meanwhile, Reads afterwards,
    List<TierStat.Level> levels, long leakedBlocks) {
  PressureReport {
    levels = List.copyOf(levels);
  }

  /// GB/s of the same bytes.
  ///
  /// @param bareFiles made, summed and written by one thread to files
  /// @param memoryAlone put into a tier of host memory that evicts what has no room
  record Baseline(double bareFiles, double memoryAlone) {}

  /// GB/s into the stack.
  ///
  /// @param accepted from the first reservation to the last receipt
  /// @param sustained from when memory had been filled once to the last receipt: as fast as the disk takes them
  record Rates(double accepted, double sustained) {}

  /// Whether every block was accepted, was there at once, and came back right.
  boolean isGood() {
    return refused == 0 && lost == 0 && invisible == 0 && leakedBlocks == 0 && isRight(meanwhile) && isRight(afterwards)
        && afterwards.blocks() == blocks;
  }

  private static boolean isRight(Reads reads) {
    return reads.missing() == 0 && reads.wrong() == 0;
  }
}
