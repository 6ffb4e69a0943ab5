package io.penstock.examples.conversations;

import static io.penstock.examples.conversations.ConversationNode.await;

import io.penstock.block.BlockKey;
import io.penstock.examples.conversations.ConversationNode.Start;
import io.penstock.examples.source.Reading;
import io.penstock.flow.LoadPrefix.Choice;
import io.penstock.flow.LoadPrefix.Plan;
import io.penstock.node.cli.Progress;
import io.penstock.node.config.Policies;
import io.penstock.node.tiers.TierRecording;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// The story: equal conversations, first against a node without a disk, then against one with a disk. One turn at a
/// time, so that the decisions of a node follow from the seed.
final class ConversationsRun {
  private final ConversationsOptions options;
  private final LoopResources loops;
  private final Scheduler timers;
  private final Progress progress;
  private final @Nullable TierRecording recording;
  private final List<Conversation> conversations;
  private final List<Integer> order;
  private int done;

  /// The caller disposes of the loops and the scheduler.
  ///
  /// @param progress receives the turns
  /// @param recording of the tiers of both nodes; null for none
  ConversationsRun(ConversationsOptions options, LoopResources loops, Scheduler timers, Progress progress,
      @Nullable TierRecording recording) {
    this.recording = recording;
    this.options = options;
    this.loops = loops;
    this.timers = timers;
    this.progress = progress;
    this.conversations = options.all();
    this.order = options.order();
  }

  ConversationsReport run() {
    Outcome withoutSsd = talk(false);
    Outcome withSsd = talk(true);
    return new ConversationsReport(options.conversations(), options.turns(), options.systemTokens(),
        ConversationNode.BLOCK_TOKENS, ConversationNode.BLOCK_BYTES,
        ConversationsOptions.blocks(options.memory().hbmBytes()),
        ConversationsOptions.blocks(options.memory().dramBytes()),
        ConversationsOptions.blocks(options.memory().ssdBytes()),
        Policies.print(options.policy()), options.tokensPerSecond(),
        options.choice().name().toLowerCase(Locale.ROOT), options.seed(), withoutSsd, withSsd);
  }

  private Outcome talk(boolean withSsd) {
    progress.next(withSsd ? "with SSD" : "without SSD");
    Talk talk = new Talk(new ConversationNode(options, withSsd, loops, timers, recording));
    TierStat stat;
    try (talk.node) {
      talk.start();
      order.forEach(talk::next);
      stat = await(talk.node.stat());
    }
    return talk.outcome(withSsd, stat);
  }

  /// All conversations against one node.
  private final class Talk {
    private final ConversationNode node;
    private final List<TurnFigures> turns = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private final AtomicReference<Plan> plan = new AtomicReference<>();
    private final Choice choice =
        new Choice(Choice.Options.of(options.tokensPerSecond()).withEnabled(options.choice() == ChoiceRule.COST),
            System::nanoTime, plan::set);
    private final int[] turnOf = new int[conversations.size()];
    private final int[] shared = new int[conversations.size()];
    private long loadNanos;
    private long wrongSpans;
    private long missingBlocks;

    Talk(ConversationNode node) {
      this.node = node;
    }

    /// Every conversation begins with the system prompt; several at the same time.
    void start() {
      List<BlockKey> system = conversations.getFirst().keys().subList(0, options.systemBlocks());
      List<Start> starts = await(Flux.range(0, conversations.size())
          .flatMapSequential(number -> node.start(system), ConversationNode.STARTS_AT_ONCE, 1).collectList());
      for (int number = 0; number < starts.size(); number++) {
        shared[number] = system.size() - starts.get(number).computed();
        check(starts.get(number).reading(), system.size());
      }
    }

    /// The next turn of the conversation `number`: loads the part of the prompt that the node has, computes the rest,
    /// and generates the answer.
    void next(int number) {
      Conversation conversation = conversations.get(number);
      int turn = turnOf[number]++;
      List<BlockKey> prompt = conversation.prompt(turn);
      boolean begins = turn == 0; // then the system prompt is loaded already
      Reused reused = begins ? Reused.shared(shared[number]) : load(number, turn, prompt);
      int loaded = begins ? options.systemBlocks() : Math.toIntExact(reused.blocks());
      await(node.compute(prompt.subList(loaded, prompt.size())).count());
      await(node.generate(conversation.answer(turn)).count());
      add(TurnFigures.of(turn + 1, conversation.promptTokens().get(turn), prompt.size(), reused));
      progress.at(++done, 2L * order.size());
    }

    private Reused load(int number, int turn, List<BlockKey> prompt) {
      Reused before = Reused.hits(await(node.stat()));
      long start = System.nanoTime();
      Reading reading = await(node.load(prompt, choice));
      loadNanos += System.nanoTime() - start;
      Reused reused = Reused.hits(await(node.stat())).minus(before);
      check(reading, reused.blocks());
      if (options.choice() == ChoiceRule.COST) {
        decisions.add(Decision.of(number + 1, turn + 1, plan.get()));
      }
      return reused;
    }

    private void check(Reading reading, long blocks) {
      wrongSpans += reading.wrongSpans();
      missingBlocks += Math.abs(blocks - reading.blocks());
    }

    private void add(TurnFigures figures) {
      if (turns.size() < figures.turn()) {
        turns.add(figures);
      } else {
        turns.set(figures.turn() - 1, turns.get(figures.turn() - 1).plus(figures));
      }
    }

    Outcome outcome(boolean withSsd, TierStat stat) {
      TurnFigures all = TurnFigures.sum(turns);
      return new Outcome(withSsd, turns, all, options.seconds(all.savedTokens()), stat.evicted(),
          stat.tiering().held() + stat.tiering().evictedForRoom(), wrongSpans, missingBlocks, node.leaked(),
          loadNanos / 1e9, decisions);
    }
  }
}
