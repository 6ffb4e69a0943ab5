package io.penstock.disagg.request;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.request.AuxData.AuxMismatchException;

/// The right of one attempt to write one shard of a request. It ends with the attempt: late bytes find it closed. Safe
/// from any thread.
public interface MoveTicket {
  /// Name of the request.
  String request();

  /// Whose bytes may land.
  Incarnation source();

  /// Blocks that are to arrive.
  GroupBlocks blocks();

  /// Counted from 1.
  int attempt();

  /// Whether bytes that the source sent in `generation` may be written now. Bytes of an earlier generation never are,
  /// nor are any after the end of the attempt. A refusal is counted.
  boolean admits(long generation);

  /// The source knows the request, and sends when it has something.
  void accepted();

  /// Bytes were written and verified.
  void landed(long bytes);

  /// One block failed to arrive. The attempt continues for the others, and fails at its end.
  void failed(int group, int position, BlockOutcome outcome);

  /// Aux data came with the shard.
  ///
  /// @throws AuxMismatchException if they are damaged or those of another request; the mover fails with it
  void aux(AuxData data);
}
