package io.penstock.examples.incidents;

import io.penstock.examples.incidents.ours.CommitThenVisible;
import io.penstock.examples.incidents.ours.CountedBytes;
import io.penstock.examples.incidents.ours.DamagedBlock;
import io.penstock.examples.incidents.ours.DistinctReaders;
import io.penstock.examples.incidents.ours.DrainedCancel;
import io.penstock.examples.incidents.ours.FailedLoad;
import io.penstock.examples.incidents.ours.FailedMove;
import io.penstock.examples.incidents.ours.HeldStore;
import io.penstock.examples.incidents.ours.ReadLeaseExpires;
import io.penstock.examples.incidents.ours.UnknownRank;
import io.penstock.examples.incidents.ours.WaitingPuts;
import io.penstock.examples.incidents.peer.CachedVerdict;
import io.penstock.examples.incidents.peer.CountedDone;
import io.penstock.examples.incidents.peer.EarlyAck;
import io.penstock.examples.incidents.peer.EarlyOk;
import io.penstock.examples.incidents.peer.EdgeHeartbeat;
import io.penstock.examples.incidents.peer.LateStore;
import io.penstock.examples.incidents.peer.LoggedExpiry;
import io.penstock.examples.incidents.peer.LostFin;
import io.penstock.examples.incidents.peer.RefusedPuts;
import io.penstock.examples.incidents.peer.StoreAnnouncedEarly;
import io.penstock.examples.incidents.peer.UncheckedLoad;
import java.util.List;

/// All incidents.
final class Gallery {
  static final List<Incident> INCIDENTS = List.of(
      new Incident("wrong-success", "ai-dynamo/dynamo #15079", "another request's KV, HTTP 200",
          "A block that counts as loaded holds its own bytes.", UncheckedLoad.schedule(), UncheckedLoad::new,
          FailedLoad::new),
      new Incident("failed-store", "LMCache/LMCache #4991", "gibberish at every later hit",
          "A block whose store has ended is found only if all its bytes were stored.", StoreAnnouncedEarly.schedule(),
          StoreAnnouncedEarly::new, CommitThenVisible::new),
      new Incident("expired-lease", "aws-samples/aws-do-eks #84", "8 of 42 requests answered on freed KV",
          "Decode never takes bytes of another request.", LoggedExpiry.schedule(), LoggedExpiry::new,
          ReadLeaseExpires::new),
      new Incident("lost-fin", "sgl-project/sglang #29978", "decode waits 300 s with all bytes in place",
          "A request that waits has a message under way, or a sender that is not done.", LostFin.schedule(),
          LostFin::new, FailedMove::new),
      new Incident("third-prompt", "kvcache-ai/Mooncake #3331", "reuse of 49,984, 16,384 and 0 tokens",
          "A block that its writer believes stored is in memory or on the disk.", RefusedPuts.schedule(),
          RefusedPuts::new, WaitingPuts::new),
      new Incident("fast-restart", "LMCache/LMCache #4642", "every store refused until the engine restarts",
          "A server that answers a heartbeat knows the worker.", EdgeHeartbeat.schedule(), EdgeHeartbeat::new,
          UnknownRank::new),
      new Incident("bad-file", "vllm-project/vllm #49176", "a request loops for ever",
          "A block that lookups find can be loaded.", CachedVerdict.schedule(), CachedVerdict::new,
          DamagedBlock::new),
      new Incident("done-order", "vllm-project/vllm-ascend #14407", "a prefill node lost under load",
          "Blocks are kept until each reader is done.", CountedDone.schedule(), CountedDone::new,
          DistinctReaders::new),
      new Incident("early-ack", "sgl-project/sglang #31357", "a page of one request in another",
          "Memory is free only if no write to it is under way.", EarlyAck.schedule(), EarlyAck::new,
          DrainedCancel::new),
      new Incident("late-store", "vllm-project/vllm #52360", "a prefix with another request's KV",
          "A block is stored with its own bytes.", LateStore.schedule(), LateStore::new, HeldStore::new),
      new Incident("early-ok", "vllm-project/vllm #44238", "rare wrong answers, not reproduced in 12 hours",
          "A request counts as received when all its bytes are there.", EarlyOk.schedule(), EarlyOk::new,
          CountedBytes::new));

  private Gallery() {}
}
