package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

final class CutOffTest {
  private final List<String> log = new ArrayList<>();
  private final Sinks.Many<Integer> source = Sinks.many().unicast().onBackpressureBuffer();
  private final Sinks.Empty<Void> end = Sinks.empty();

  private Disposable read() {
    Flux<Integer> stream = source.asFlux().doOnCancel(() -> log.add("source is cancelled"));
    return CutOff.at(stream, end.asMono().doOnCancel(() -> log.add("end is cancelled")))
        .subscribe(element -> log.add("" + element), error -> log.add(error.getMessage()), () -> log.add("complete"));
  }

  @Test
  void anErrorOfTheEnd_cancelsTheSource() {
    read();
    source.tryEmitNext(1);
    end.tryEmitError(new IllegalStateException("closed"));
    assertThat(log).containsExactly("1", "source is cancelled", "closed");
  }

  @Test
  void completionOfTheEnd_cancelsTheSource() {
    read();
    end.tryEmitEmpty();
    assertThat(log).containsExactly("source is cancelled", "complete");
  }

  @Test
  void aSourceThatEndsItself_andACancel_leaveNothingBehind() {
    read();
    source.tryEmitNext(1);
    source.tryEmitComplete();
    assertThat(log).containsExactly("1", "end is cancelled", "complete");
    log.clear();
    CutOff.at(Flux.never().doOnCancel(() -> log.add("source")), Mono.never().doOnCancel(() -> log.add("end")))
        .subscribe().dispose();
    assertThat(log).containsExactlyInAnyOrder("source", "end");
  }
}
