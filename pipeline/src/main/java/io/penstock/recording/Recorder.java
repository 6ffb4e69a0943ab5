package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.recording.RecordedEvent.Kind;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// Records the signals of named flows: `flux.transform(recorder.named("load"))`. Safe from any thread; it never waits
/// for a disk.
public final class Recorder {
  private final Turns turns;

  /// @param turns the order of all that is recorded
  public Recorder(Turns turns) {
    this.turns = requireNonNull(turns, "turns");
  }

  /// Records each subscription to a flow: subscribe, demand, elements, cancel, end.
  ///
  /// @param name of the flow; the same for each of its subscriptions
  public <T> Function<Publisher<T>, Flux<T>> named(String name) {
    return named(name, 0);
  }

  /// The same for a flow that comes over a link.
  ///
  /// @param link number of the link in the recording
  public <T> Function<Publisher<T>, Flux<T>> named(String name, long link) {
    requireNonNull(name, "name");
    return source -> Flux.from(reader -> {
      RecordedEvent begin = RecordedEvent.of(Kind.FLOW, turns.newNamedFlow()).with(link).with(name);
      source.subscribe(new Recorded<>(begin, Operators.toCoreSubscriber(reader)));
    });
  }

  /// Records a signal.
  void add(RecordedEvent signal) {
    turns.signal(signal);
  }

  private final class Recorded<T> implements CoreSubscriber<T>, Subscription {
    private final RecordedEvent begin;
    private final CoreSubscriber<? super T> actual;
    private Subscription upstream = Operators.emptySubscription();

    Recorded(RecordedEvent begin, CoreSubscriber<? super T> actual) {
      this.begin = begin;
      this.actual = actual;
    }

    private RecordedEvent event(Kind kind) {
      return RecordedEvent.of(kind, begin.flow());
    }

    @Override
    public Context currentContext() {
      return actual.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      upstream = subscription;
      add(begin);
      actual.onSubscribe(this);
    }

    @Override
    public void onNext(T element) {
      add(ElementWords.of(event(Kind.FLOW_NEXT), requireNonNull(element)));
      actual.onNext(element);
    }

    @Override
    public void onError(Throwable error) {
      add(event(Kind.FLOW_ERROR).with(Errors.text(error)));
      actual.onError(error);
    }

    @Override
    public void onComplete() {
      add(event(Kind.FLOW_COMPLETE));
      actual.onComplete();
    }

    @Override
    public void request(long n) {
      add(event(Kind.FLOW_REQUEST).with(n));
      upstream.request(n);
    }

    @Override
    public void cancel() {
      add(event(Kind.FLOW_CANCEL));
      upstream.cancel();
    }
  }
}
