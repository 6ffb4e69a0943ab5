package io.penstock.node.kvevents;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import zmq.ZError;

/// Answers consumers that missed batches, over a ROUTER socket that only its thread uses.
///
/// A request is the number of the first batch wanted, 8 bytes big-endian, after the envelope of a REQ or DEALER socket.
/// The answer is the batches kept from there on, each a message of number and payload, then number −1 and no payload.
final class KvReplay implements Runnable {
  private static final byte[] END = ByteBuffer.allocate(Long.BYTES).putLong(-1).array();

  private final ZMQ.Socket router;
  private final KvBatches batches;
  private final Runnable lost;
  private final AtomicLong replayed = new AtomicLong();

  /// @param lost runs when a consumer missed batches that are not kept
  KvReplay(ZMQ.Socket router, KvBatches batches, Runnable lost) {
    this.router = router;
    this.batches = batches;
    this.lost = lost;
  }

  /// Batches sent again.
  long replayed() {
    return replayed.get();
  }

  /// Runs until the context of the socket ends.
  @Override
  public void run() {
    try {
      while (true) {
        answer(message());
      }
    } catch (ZMQException e) {
      if (e.getErrorCode() != ZError.ETERM) {
        throw e;
      }
    } finally {
      router.close();
    }
  }

  private List<byte[]> message() {
    List<byte[]> frames = new ArrayList<>();
    do {
      frames.add(router.recv());
    } while (router.hasReceiveMore());
    return frames;
  }

  private void answer(List<byte[]> request) {
    byte[] asked = request.removeLast();
    if (request.isEmpty() || asked.length != Long.BYTES) {
      return; // no consumer of this protocol
    }
    long first = ByteBuffer.wrap(asked).getLong();
    if (first < batches.first() || first > batches.next()) {
      lost.run(); // also a consumer of an earlier life of the node
    }
    long sequence = Math.max(first, batches.first());
    for (byte[] payload = batches.get(sequence); payload != null; payload = batches.get(++sequence)) {
      send(request, ByteBuffer.allocate(Long.BYTES).putLong(sequence).array(), payload);
      replayed.incrementAndGet();
    }
    send(request, END, new byte[0]);
  }

  private void send(List<byte[]> envelope, byte[] sequence, byte[] payload) {
    envelope.forEach(router::sendMore);
    router.sendMore(sequence);
    router.send(payload);
  }
}
