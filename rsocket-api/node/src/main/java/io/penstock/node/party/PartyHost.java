package io.penstock.node.party;

import io.penstock.TransientKvException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// The other end of a [RemoteParty]: does the driver's requests in this process, and answers.
final class PartyHost {
  private final ControlLine line;
  private final @Nullable DecodeParty decode;
  private final @Nullable PrefillParty prefill;
  private final Map<Long, Disposable> running = new ConcurrentHashMap<>();
  private final AtomicLong needs = new AtomicLong();
  private final Map<Long, MonoSink<Void>> needed = new ConcurrentHashMap<>();

  private PartyHost(ControlLine line, @Nullable DecodeParty decode, @Nullable PrefillParty prefill) {
    this.line = line;
    this.decode = decode;
    this.prefill = prefill;
  }

  static PartyHost of(ControlLine line, DecodeParty decode) {
    return new PartyHost(line, decode, null);
  }

  static PartyHost of(ControlLine line, PrefillParty prefill) {
    return new PartyHost(line, null, prefill);
  }

  /// Does what `message` asks for.
  void hear(Message message) {
    switch (message) {
      case Message.Read read -> run(read.call(), read(read));
      case Message.Put put -> run(put.call(), put(put));
      case Message.AskStat ask -> run(ask.call(), stat().map(stat -> new Message.Stat(ask.call(), stat)));
      case Message.Supplied supplied -> supplied(supplied.need(), null);
      case Message.NotSupplied not ->
        supplied(not.need(), RemoteParty.failure("prefill: " + not.message(), not.isTransient()));
      case Message.Cancel cancel -> stop(cancel.call());
      default -> throw new IllegalStateException("message must be a question (was " + message + ")");
    }
  }

  /// Ends all work.
  void close() {
    List.copyOf(running.values()).forEach(Disposable::dispose);
  }

  private Mono<Message> read(Message.Read read) {
    if (decode == null) {
      return Mono.error(new IllegalStateException("this party must decode to read"));
    }
    return decode.read(read.ids(), answer -> supply(read.call(), answer))
        .map(delivery -> new Message.Delivered(read.call(), delivery));
  }

  private Mono<Message> put(Message.Put put) {
    if (prefill == null) {
      return Mono.error(new IllegalStateException("this party must prefill to put"));
    }
    return prefill.put(put.ids()).thenReturn(new Message.Stored(put.call()));
  }

  private Mono<PartyStat> stat() {
    return decode != null ? decode.stat() : prefill != null ? prefill.stat() : Mono.empty();
  }

  /// Asks the driver to supply the needed blocks, and waits until it did.
  private Mono<Void> supply(long call, Answer answer) {
    return Mono.create(sink -> {
      long need = needs.incrementAndGet();
      sink.onDispose(() -> needed.remove(need));
      needed.put(need, sink);
      send(new Message.Need(call, need, answer));
    });
  }

  private void supplied(long need, @Nullable Throwable failure) {
    MonoSink<Void> sink = needed.remove(need);
    if (sink == null) {
      return; // the pass ended meanwhile
    }
    if (failure == null) {
      sink.success();
    } else {
      sink.error(failure);
    }
  }

  private void run(long call, Mono<? extends Message> work) {
    Disposable.Swap slot = Disposables.swap();
    running.put(call, slot);
    slot.update(work.doFinally(end -> running.remove(call)).subscribe(this::send,
        error -> send(new Message.Failed(call, RemoteParty.text(error), error instanceof TransientKvException))));
  }

  /// Answers, or stops all work when the driver reads no more.
  private void send(Message message) {
    if (!line.send(message)) {
      close();
    }
  }

  private void stop(long call) {
    Disposable work = running.get(call);
    if (work != null) {
      work.dispose();
    }
  }
}
