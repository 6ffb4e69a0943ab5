package io.penstock.node.party;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A decode or prefill party behind a [ControlLine], as its driver sees it.
final class RemoteParty implements DecodeParty, PrefillParty {
  private final String name;
  private final ControlLine line;
  @GuardedBy("this") private final Map<Long, Call> calls = new HashMap<>();
  @GuardedBy("this") private long nextCall = 1;
  @GuardedBy("this") private @Nullable PartyGoneException gone;

  RemoteParty(String name, ControlLine line) {
    this.name = name;
    this.line = line;
  }

  /// One question and the subscriber that waits for its answer.
  private static final class Call {
    final MonoSink<Message> sink;
    final Function<Answer, Mono<Void>> supply;
    final Disposable.Swap supplying = Disposables.swap();

    Call(MonoSink<Message> sink, Function<Answer, Mono<Void>> supply) {
      this.sink = sink;
      this.supply = supply;
    }
  }

  @Override
  public Mono<Delivery> read(List<Long> ids, Function<Answer, Mono<Void>> supply) {
    return ask(call -> new Message.Read(call, ids), supply).map(answer -> ((Message.Delivered) answer).delivery());
  }

  @Override
  public Mono<Void> put(List<Long> ids) {
    return ask(call -> new Message.Put(call, ids), RemoteParty::nothing).then();
  }

  @Override
  public Mono<PartyStat> stat() {
    return ask(Message.AskStat::new, RemoteParty::nothing).map(answer -> ((Message.Stat) answer).stat());
  }

  /// Receives a message of the party.
  void hear(Message message) {
    Call call = message instanceof Message.Need ? peek(message.call()) : take(message.call());
    if (call == null) {
      return; // cancelled meanwhile
    }
    switch (message) {
      case Message.Need need -> supply(call, need);
      case Message.Failed failed -> {
        call.supplying.dispose();
        call.sink.error(failure(name + ": " + failed.message(), failed.isTransient()));
      }
      default -> call.sink.success(message);
    }
  }

  /// The party is gone: everything that waits for it fails, now and from now on.
  void end(String how) {
    List<Call> waiting;
    PartyGoneException failure = new PartyGoneException(name, how);
    synchronized (this) {
      if (gone != null) {
        return;
      }
      gone = failure;
      waiting = List.copyOf(calls.values());
      calls.clear();
    }
    waiting.forEach(call -> {
      call.supplying.dispose();
      call.sink.error(failure);
    });
  }

  static KvException failure(String message, boolean isTransient) {
    return isTransient ? new TransientKvException(message) : new PermanentKvException(message);
  }

  private void supply(Call call, Message.Need need) {
    call.supplying.update(call.supply.apply(need.answer()).subscribe(
        nothing -> {},
        error -> send(
            new Message.NotSupplied(need.call(), need.need(), text(error), error instanceof TransientKvException)),
        () -> send(new Message.Supplied(need.call(), need.need()))));
  }

  /// Sends, or ends a party that reads no more.
  private void send(Message message) {
    if (!line.send(message)) {
      end("takes no more messages");
    }
  }

  static String text(Throwable error) {
    return error.getMessage() == null ? error.getClass().getName() : error.getMessage();
  }

  private Mono<Message> ask(Function<Long, Message> question, Function<Answer, Mono<Void>> supply) {
    return Mono.create(sink -> {
      Call call = new Call(sink, supply);
      long number;
      synchronized (this) {
        if (gone != null) {
          sink.error(gone);
          return;
        }
        number = nextCall++;
        calls.put(number, call);
      }
      sink.onCancel(() -> {
        call.supplying.dispose();
        if (take(number) != null) {
          send(new Message.Cancel(number));
        }
      });
      send(question.apply(number));
    });
  }

  private synchronized @Nullable Call take(long number) {
    return calls.remove(number);
  }

  private synchronized @Nullable Call peek(long number) {
    return calls.get(number);
  }

  private static Mono<Void> nothing(Answer answer) {
    return Mono.empty();
  }
}
