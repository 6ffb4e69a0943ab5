package io.penstock.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.flow.LoadPrefix;
import io.penstock.flow.OffloadPrefix;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.RecordingVerifier;
import io.penstock.recording.check.Rules;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stage.Stage;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/// A recorded flow is the flow that it was before, with demand, context, errors and cancels; the recording says all of
/// it in order.
final class RecorderTest extends StageContract<Block, Block> {
  private final AtomicLong clock = new AtomicLong();
  private final MemoryRecording recording = MemoryRecording.begin(clock::incrementAndGet, 200_000);
  private final Recorder recorder = recording.recorder();

  @Override
  protected Stage<Block, Block> stage(BlockScope scope) {
    return blocks -> blocks.transform(recorder.named("blocks"));
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  @Override
  protected long pulled(long demand) {
    return demand;
  }

  /// Of all that the contract does, cancels on two threads included.
  @AfterEach
  void recordingKeepsTheRules() {
    if (!recording.events().isEmpty()) {
      RecordingVerifier.of(recording.events()).keepsAll().verify();
    }
  }

  private List<Kind> kinds() {
    return recording.events().stream().map(RecordedEvent::kind).toList();
  }

  private List<RecordedEvent> elements() {
    return recording.events().stream().filter(event -> event.kind() == Kind.FLOW_NEXT).toList();
  }

  @Test
  void signals_areRecordedInTheirOrder_withTheTimeOfTheClock() {
    StepVerifier.create(Flux.just(7, 8, 9).transform(recorder.named("load")), 2).expectNext(7, 8).thenRequest(1)
        .expectNext(9).verifyComplete();

    assertThat(kinds()).containsExactly(Kind.FLOW, Kind.FLOW_REQUEST, Kind.FLOW_NEXT, Kind.FLOW_NEXT,
        Kind.FLOW_REQUEST, Kind.FLOW_NEXT, Kind.FLOW_COMPLETE);
    assertThat(recording.events()).extracting(RecordedEvent::text).first().isEqualTo("load");
    assertThat(elements()).extracting(event -> event.number(1)).containsExactly(7L, 8L, 9L);
    assertThat(recording.events()).filteredOn(RecordedEvent::begins).extracting(RecordedEvent::at).isSorted();
  }

  @Test
  void eachSubscription_isAFlowOfItsOwn() {
    Flux<Integer> recorded = Flux.just(1, 2).transform(recorder.named("load"));
    recorded.blockLast(LIMIT);
    recorded.blockLast(LIMIT);

    assertThat(recording.events()).extracting(RecordedEvent::flow).containsOnly(-1L, -2L);
    RecordingVerifier.of(recording.events()).hasElements("load", 4).verify();
  }

  @Test
  void aMono_staysAMono_andIsNotCancelled() {
    Mono<Integer> recorded = Mono.just(1).transform(recorder.named("answer"));
    StepVerifier.create(recorded).expectNext(1).verifyComplete();
    StepVerifier.create(Mono.<Integer>empty().transform(recorder.named("answer"))).verifyComplete();

    assertThat(kinds()).containsExactly(Kind.FLOW, Kind.FLOW_REQUEST, Kind.FLOW_NEXT, Kind.FLOW_COMPLETE, Kind.FLOW,
        Kind.FLOW_REQUEST, Kind.FLOW_COMPLETE);
  }

  @Test
  void anError_isRecorded_andPassedOn() {
    StepVerifier.create(Flux.error(new IllegalStateException("boom")).transform(recorder.named("load")))
        .verifyErrorMessage("boom");

    assertThat(recording.events()).last().satisfies(event -> {
      assertThat(event.kind()).isEqualTo(Kind.FLOW_ERROR);
      assertThat(event.text()).isEqualTo("IllegalStateException: boom");
    });
  }

  @Test
  void aReaderThatLeavesAtOnce_isRecorded() {
    Flux.range(0, 3).transform(recorder.named("load")).subscribe(new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        cancel();
      }
    });

    assertThat(kinds()).containsExactly(Kind.FLOW, Kind.FLOW_CANCEL);
    RecordingVerifier.of(recording.events()).noElementAfterCancel("load").everyStreamEnds().verify();
  }

  @Test
  void theContext_reachesTheSource() {
    Flux<String> source = Flux.deferContextual(context -> Flux.just(context.<String>get("who")));

    assertThat(source.transform(recorder.named("load")).contextWrite(context -> context.put("who", "reader"))
        .blockLast(LIMIT)).isEqualTo("reader");
  }

  @Test
  void operatorsThatFuse_workBeforeAndAfter() {
    List<Integer> even = Flux.range(0, 100).filter(i -> i % 2 == 0).transform(recorder.named("even"))
        .filter(i -> i % 4 == 0).map(i -> i / 4).collectList().block(LIMIT);

    assertThat(even).isEqualTo(IntStream.range(0, 25).boxed().toList());
    RecordingVerifier.of(recording.events()).hasElements("even", 50).verify();
  }

  @Test
  void wordsOfTheFlowsOwn_areKept_andThoseThatThrowHarmNothing() {
    Flux.just("a", "bb").transform(recorder.<String>named("words", word -> "length " + word.length()))
        .blockLast(LIMIT);
    Flux.just("c").transform(recorder.<String>named("words", word -> {
      throw new IllegalStateException("no words");
    })).blockLast(LIMIT);

    assertThat(elements()).extracting(RecordedEvent::text).containsExactly("length 1", "length 2", "String");
  }

  /// An element of a type that is not known may hold what must not leave the process.
  @Test
  void aTextThatIsNotKnown_isNotRecorded() {
    Flux.just("the prompt of a user").transform(recorder.named("load")).blockLast(LIMIT);

    assertThat(recording.events()).noneMatch(event -> event.toString().contains("prompt"));
    assertThat(elements()).extracting(ElementType::of).containsExactly(ElementType.OTHER);
  }

  @Test
  void aRecordingThatIsFull_saysHowManyEventsAreMissing() {
    MemoryRecording small = MemoryRecording.begin(clock::get, 3);
    Flux.range(0, 5).transform(small.recorder().named("load")).blockLast(LIMIT);

    List<RecordedEvent> events = small.events();

    assertThat(events).hasSize(4).last().isEqualTo(RecordedEvent.gap(5));
  }

  /// The source goes on within the cancel of its reader: its elements come before the cancel has returned.
  @Test
  void elementsWithinACancel_comeBeforeIt() {
    Flux<Integer> source = Flux.from(reader -> reader.onSubscribe(new Subscription() {
      @Override
      public void request(long n) {
        // One is under way when the reader leaves
      }

      @Override
      public void cancel() {
        reader.onNext(1);
      }
    }));
    BaseSubscriber<Integer> reader = new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        request(1);
      }
    };
    source.<Integer>transform(recorder.named("load")).subscribe(reader);
    reader.cancel();

    assertThat(kinds()).containsExactly(Kind.FLOW, Kind.FLOW_REQUEST, Kind.FLOW_NEXT, Kind.FLOW_CANCEL);
  }

  /// The recipes of this module over a recorded tier, each of them recorded: the rules hold, and elements are named.
  @Test
  void recipesOverATier_areRecorded_withTheWordsOfTheirElements() {
    SliceShape shape = StageFixtures.split(256, SliceShape.Order.LAYER_FIRST);
    HostTier tier = new HostTier(StageFixtures.SPACE, 16, StackOptions.defaults("dram").withIngressBlocks(8),
        TierListener.noop());
    List<BlockKey> keys = StageFixtures.keys(8);
    Flux.using(BlockScope::new, scope -> inputs(8, scope)
        .transform(OffloadPrefix.blocks(tier, OffloadPrefix.Options.defaults(), timer))
        .transform(recorder.named("offload")), BlockScope::close).blockLast(LIMIT);
    scoped(scope -> LoadPrefix.layers(tier, keys, shape, scope).<LayerSlice>transform(recorder.named("load"))
        .doOnNext(LayerSlice::close)).blockLast(LIMIT);
    scoped(scope -> tier.lease(keys, OnMiss.SKIP, scope).transform(recorder.named("lease"))
        .flatMapMany(lease -> lease.windows(4, scope).transform(recorder.named("windows")))).blockLast(LIMIT);
    scoped(scope -> tier.lease(keys, OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.slicedWindows(shape, scope).transform(recorder.named("sliced"))))
        .blockLast(LIMIT);
    scoped(scope -> tier.reserve(Blocks.keys(StageFixtures.SPACE, 100, 103), scope)
        .transform(recorder.named("reserve")).doOnNext(granted -> granted.drafts().forEach(BlockDraft::close)).flux())
        .blockLast(LIMIT);
    tier.contains(keys).transform(recorder.named("contains")).block(LIMIT);
    Flux.just(Set.of(keys.getFirst())).transform(recorder.named("keys")).blockLast(LIMIT);
    Flux.just(Duration.ZERO).transform(recorder.named("other")).blockLast(LIMIT);
    Flux.just(Arena.ofAuto().allocate(64)).transform(recorder.named("bytes")).blockLast(LIMIT);
    tier.close().block(LIMIT);

    assertThat(elements()).extracting(ElementType::of).contains(ElementType.RECEIPT, ElementType.SLICE,
        ElementType.LEASE, ElementType.LIST, ElementType.WINDOW, ElementType.RESERVATION, ElementType.PRESENCE,
        ElementType.BYTES).endsWith(ElementType.LIST, ElementType.OTHER, ElementType.BYTES);
    assertThat(elements()).filteredOn(event -> ElementType.of(event) == ElementType.LEASE)
        .extracting(event -> List.of(event.number(1), event.number(2))).containsExactly(List.of(8L, 8L));
    RecordingVerifier.of(recording.events()).requestsAtMost("reserve", Long.MAX_VALUE).layersInOrder()
        .hasElements("load", 8).hasElements("offload", 8).keeps(Rules.named("demand")).verify();
  }
}
