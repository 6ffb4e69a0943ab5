package io.penstock.lab.simulate;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SliceShape;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/// All parts of one run, drawn from its seed.
///
/// @param seed names the run
/// @param calm nothing goes wrong on purpose: no fault, no client leaves, no call changes anything; then every request
///     must succeed at once
/// @param space whose blocks move
/// @param node the one node
/// @param decoders readers
/// @param prefillers writers
/// @param requests in the order in which they begin
/// @param sideCalls other calls: removals, questions, statistics
/// @param faults of links and node
record Scenario(long seed, boolean calm, CacheSpace space, NodePlan node, List<PartyPlan> decoders,
    List<PartyPlan> prefillers,
    List<RequestPlan> requests, List<SideCallPlan> sideCalls, FaultPlan faults) {
  /// This scenario in a space without a salt: no recording holds one.
  Scenario withoutSalt() {
    CacheSpace plain = new CacheSpace(space.model(), space.layout(), space.group(), "");
    return new Scenario(seed, calm, plain, node, decoders, prefillers, requests, sideCalls, faults);
  }

  /// @param reserveBlocks slots beyond the capacity, at least a window
  /// @param budgetSlices slices in flight; one more is there, so that both ways have at least one
  record NodePlan(int capacityBlocks, int reserveBlocks, EvictionPolicy policy, boolean verifyReads, int windowBlocks,
      int sliceBytes,
      int budgetSlices, int windowsAhead, Duration awaitTimeout, int eventLogSize) {}

  /// @param arenaBlocks slots of its memory, at least a window
  /// @param budgetSlices slices in flight towards it
  record PartyPlan(int windowBlocks, int sliceBytes, int arenaBlocks, int budgetSlices, int creditSlices,
      SliceShape.Order order) {}

  /// @param decoder index of the reader
  /// @param prefiller index of the writer of missing blocks
  /// @param ids trace ids of the blocks, in order
  /// @param pause before it begins, after the reader's previous request
  record RequestPlan(int number, int decoder, int prefiller, List<Long> ids, Duration pause, ReaderPlan reader,
      WriterPlan writer) {}

  /// Behaviour of a reader.
  ///
  /// @param demand slices asked for at a time
  /// @param pause before more are asked for
  /// @param ending reason why the reader leaves
  /// @param after slices, or microseconds if it leaves by the clock
  record ReaderPlan(int demand, Duration pause, Ending ending, int after) {}

  enum Ending {
    READS_ALL, LEAVES_BY_CLOCK, LEAVES_WHEN_FOUND, LEAVES_AFTER_SLICES
  }

  /// Behaviour of a writer of missing blocks, the first time.
  ///
  /// @param after slices that go well
  record WriterPlan(Writing writing, int after) {}

  enum Writing {
    WHOLE, THROWS, SIGNALS_ERROR, ENDS_EARLY, HANGS, IS_CUT_OFF
  }

  /// A call in addition to the requests.
  record SideCallPlan(Duration at, int decoder, SideCall sideCall, List<Long> ids) {}

  enum SideCall {
    REMOVE, CONTAINS, MATCH, STAT, EVENTS, LEASE_UNREAD, AWAIT
  }

  /// Faults of links and node.
  ///
  /// @param link behaviour of every connection without a fault
  /// @param faults by number of the connection; later connections have none
  /// @param restarts waits, one after the other, before the node goes down and comes back empty
  record FaultPlan(LinkPlan link, List<List<LinkFault>> faults, List<Duration> restarts) {
    LinkPlan of(int connection) {
      return connection < faults.size() ? link.withFaults(faults.get(connection).toArray(LinkFault[]::new)) : link;
    }

    boolean corrupts(int connection) {
      return connection < faults.size()
          && faults.get(connection).stream().anyMatch(fault -> fault instanceof LinkFault.CorruptByte);
    }

    boolean corrupts() {
      return IntStream.range(0, faults.size()).anyMatch(this::corrupts);
    }
  }

  BlockLayout layout() {
    return space.layout();
  }

  /// Short text for the reader of a failing seed.
  String summary() {
    return decoders.size() + " decoders, " + prefillers.size() + " prefillers, " + requests.size()
        + " requests, blocks of "
        + layout().blockBytes() + " bytes, capacity " + node.capacityBlocks() + " + " + node.reserveBlocks() + ", "
        + faults.faults().stream().mapToInt(List::size).sum() + " faults of links, " + faults.restarts().size()
        + " restarts, " + sideCalls.size() + " side calls"
        + (calm ? ", calm" : "");
  }
}
