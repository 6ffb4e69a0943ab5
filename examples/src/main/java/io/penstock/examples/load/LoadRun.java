package io.penstock.examples.load;

import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.examples.openai.ChatMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Holds the conversations of a plan with a target.
final class LoadRun {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final LoadPlan plan;
  private final ChatTarget target;
  private final LongSupplier nanos;

  LoadRun(LoadPlan plan, ChatTarget target, LongSupplier nanos) {
    this.plan = plan;
    this.target = target;
    this.nanos = nanos;
  }

  /// One request and its reply.
  ///
  /// @param messages that were sent
  record Turn(int number, List<ChatMessage> messages, ChatReply reply) {}

  /// @param turns in the order of conversations
  record Outcome(List<Turn> turns, long nanos) {}

  /// Holds all conversations. A conversation ends early when a turn has no whole answer.
  ///
  /// @param done receives each turn, on any thread
  Outcome run(Consumer<Turn> done) throws InterruptedException {
    return run(done, () -> false);
  }

  /// Holds all conversations, and further ones while `more` says so.
  Outcome run(Consumer<Turn> done, BooleanSupplier more) throws InterruptedException {
    long began = nanos.getAsLong();
    Semaphore places = new Semaphore(plan.concurrency());
    List<Turn> turns = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<List<Turn>>> all = new ArrayList<>();
      for (int i = 0; i < plan.conversations() || more.getAsBoolean(); i++) {
        int conversation = i;
        places.acquire();
        all.add(threads.submit(() -> {
          try {
            return hold(conversation, done);
          } finally {
            places.release();
          }
        }));
      }
      for (Future<List<Turn>> each : all) {
        turns.addAll(each.get());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a conversation failed: " + e.getCause(), e);
    }
    return new Outcome(turns, nanos.getAsLong() - began);
  }

  private List<Turn> hold(int conversation, Consumer<Turn> done) throws InterruptedException {
    List<Turn> turns = new ArrayList<>();
    List<ChatMessage> messages = new ArrayList<>();
    messages.add(plan.system());
    for (int number = 0; number < plan.turns(); number++) {
      messages.add(plan.user(conversation, number));
      Turn turn = new Turn(number, List.copyOf(messages), target.chat(body(messages)));
      turns.add(turn);
      done.accept(turn);
      if (!turn.reply().isWhole()) {
        return turns;
      }
      messages.add(new ChatMessage("assistant", turn.reply().text()));
    }
    return turns;
  }

  private ObjectNode body(List<ChatMessage> messages) {
    ObjectNode body = JSON.createObjectNode().put("max_tokens", plan.answerTokens()).put("stream", true);
    body.putObject("stream_options").put("include_usage", true);
    ArrayNode array = body.putArray("messages");
    messages.forEach(each -> array.addObject().put("role", each.role()).put("content", each.text()));
    return body;
  }

  /// Counts whole answers that are not those of the model in one process.
  ///
  /// @param threads that compute
  int wrong(List<Turn> turns, ToyTransformer model, int threads) throws InterruptedException {
    try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
      List<Future<Integer>> parts = IntStream.range(0, threads)
          .mapToObj(part -> workers.submit(() -> wrong(turns, model, part, threads))).toList();
      int wrong = 0;
      for (Future<Integer> part : parts) {
        wrong += part.get();
      }
      return wrong;
    } catch (ExecutionException e) {
      throw new IllegalStateException("the model failed: " + e.getCause(), e);
    }
  }

  private int wrong(List<Turn> turns, ToyTransformer model, int part, int parts) {
    int wrong = 0;
    try (ToyTransformer.Monolith monolith = model.new Monolith()) {
      for (int i = part; i < turns.size(); i += parts) {
        Turn turn = turns.get(i);
        if (turn.reply().isWhole()) {
          int[] prompt = model.encode(ChatMessage.prompt(turn.messages()));
          String expected = model.decode(monolith.answer(prompt, plan.answerTokens()));
          wrong += expected.equals(turn.reply().text()) ? 0 : 1;
        }
      }
    }
    return wrong;
  }
}
