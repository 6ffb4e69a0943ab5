package io.penstock.gateway.relay;

import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.api.ApiJson;
import io.penstock.gateway.api.TokenCounts;
import io.penstock.gateway.chunk.EngineChunk;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Follows a streamed answer, so that another engine can go on where one died: with the tokens of the prompt and the
/// tokens that the client has seen as its prompt.
///
/// Tokens whose text the client has not seen are not part of it: an engine keeps text back while a character is
/// incomplete. The next engine generates them again.
///
/// An answer cannot go on when its engine names no tokens, or when its state is more than tokens: tool calls, thoughts,
/// log probabilities, several choices, or texts that end it. One thread at a time.
final class StreamRecord {
  /// The field that asks for token ids.
  static final String ASKS_IDS = "return_token_ids";
  private static final List<String> MORE_THAN_TOKENS = List.of("tools", "functions", "logprobs", "top_logprobs",
      "prompt_logprobs", "response_format", "structured_outputs", "guided_json", "guided_regex", "guided_choice",
      "guided_grammar", "suffix", "echo", "use_beam_search", "best_of");
  /// Fields that speak of a prompt which the next one does not have.
  private static final List<String> OF_THE_PROMPT = List.of("messages", "prompt", "tool_choice",
      "max_completion_tokens", "max_tokens", "add_generation_prompt", "continue_final_message", "chat_template",
      "chat_template_kwargs", "add_special_tokens", "documents", "reasoning_effort", "include_reasoning",
      "parallel_tool_calls");
  private static final int DEFAULT_COMPLETION = 16;
  private static final String IDS = "token_ids";
  private static final String PROMPT_IDS = "prompt_token_ids";
  private static final String CHOICES = "choices";
  private static final String USAGE = "usage";

  private final RelayRequest request;
  private final boolean chat;
  private final boolean wantsIds;
  private final boolean wantsUsage;
  private boolean follows;
  private final SeenTokens tokens = new SeenTokens();
  private @Nullable ArrayNode prompt;
  private boolean tells = true;
  private boolean lost;
  private boolean finished;
  private boolean usageSent;
  private boolean goesOn;
  private @Nullable ObjectNode first;
  private TokenCounts counts = TokenCounts.NONE;

  /// @param resumes whether answers may go on at all
  StreamRecord(RelayRequest request, boolean resumes) {
    ObjectNode body = request.body();
    this.request = request;
    this.chat = request.path().equals(ApiForm.CHAT.path());
    this.wantsIds = body.path(ASKS_IDS).asBoolean(false);
    this.wantsUsage = body.path("stream_options").path("include_usage").asBoolean(false);
    this.follows = resumes && request.isStream() && isPlain(body);
  }

  private static boolean isPlain(ObjectNode body) {
    JsonNode prompt = body.path("prompt");
    boolean list = prompt.isArray() && !prompt.path(0).isNumber();
    JsonNode stop = body.path("stop");
    boolean stops = !stop.isMissingNode() && !stop.isNull() && !(stop.isArray() && stop.isEmpty());
    return !list && !stops && body.path("n").asInt(1) == 1
        && MORE_THAN_TOKENS.stream().allMatch(name -> isAbsent(body.path(name)));
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isMissingNode() || value.isNull() || (value.isEmpty() && value.isContainer())
        || (value.isBoolean() && !value.asBoolean());
  }

  /// Asks for no token ids that the client did not ask for: the answer cannot go on at another engine.
  ///
  /// @return whether it asked before
  boolean stopsAsking() {
    boolean asked = follows && !wantsIds;
    follows &= wantsIds;
    return asked;
  }

  /// The request for the first engine: it asks for what the gateway must know.
  ObjectNode body() {
    if (!request.isStream()) {
      return request.body();
    }
    ObjectNode body = ApiJson.object();
    body.setAll(request.body());
    ObjectNode options = ApiJson.object();
    if (body.path("stream_options") instanceof ObjectNode given) {
      options.setAll(given);
    }
    body.set("stream_options", options.put("include_usage", true));
    if (follows) {
      body.put(ASKS_IDS, true);
    }
    return body;
  }

  /// What the client gets of a chunk; null if nothing. A chunk between the first and the last one becomes no tree.
  @Nullable EngineChunk take(EngineChunk chunk) {
    boolean hasUsage = chunk.hasUsage();
    if (!hasUsage && !(follows && tells)) {
      return chunk;
    }
    if (!hasUsage && first != null && !goesOn && chunk.choices() == 1 && !chunk.hasPromptIds()
        && chunk.tokenIds() != null) {
      return followed(chunk);
    }
    if (!(chunk.tree() instanceof ObjectNode tree)) {
      return chunk;
    }
    boolean changed = follows && tells && follow(tree);
    if (hasUsage) {
      changed |= usage(tree);
      if (!wantsUsage) {
        if (tree.path(CHOICES).isEmpty()) {
          return null;
        }
        tree.remove(USAGE);
        changed = true;
      }
      usageSent |= tree.path(CHOICES).isEmpty();
    }
    return changed ? new EngineChunk(ApiJson.text(tree)) : chunk;
  }

  private EngineChunk followed(EngineChunk chunk) {
    int[] ids = chunk.tokenIds();
    for (int i = 0; ids != null && i < ids.length; i++) {
      tokens.add(ids[i]);
    }
    if (!(chat ? chunk.content() : chunk.text()).isEmpty()) {
      tokens.see();
    }
    lost |= chunk.hasCalls() || chunk.hasThoughts();
    finished |= chunk.finish() != null;
    return wantsIds ? chunk : chunk.withoutTokenIds();
  }

  private boolean follow(ObjectNode tree) {
    JsonNode choice = tree.path(CHOICES).path(0);
    boolean changed = promptIds(tree);
    if (choice instanceof ObjectNode object) {
      changed |= promptIds(object);
      changed |= tokens(object);
      if (goesOn && chat) {
        toChat(object);
      }
    }
    if (first == null) {
      first = ApiJson.object();
      for (String name : List.of("id", "object", "created", "model")) {
        if (tree.has(name)) {
          first.set(name, tree.path(name));
        }
      }
    } else if (goesOn) {
      tree.setAll(first);
    }
    return changed || goesOn;
  }

  private boolean promptIds(ObjectNode holder) {
    JsonNode ids = holder.path(PROMPT_IDS);
    if (prompt == null && ids instanceof ArrayNode array) {
      prompt = array;
      if (counts.prompt() == 0) {
        counts = new TokenCounts(array.size(), counts.cached(), counts.completion(), counts.reasoning());
      }
    }
    return !ids.isMissingNode() && (!wantsIds || goesOn) && holder.remove(PROMPT_IDS) != null;
  }

  private boolean tokens(ObjectNode choice) {
    JsonNode delta = choice.path("delta");
    String text = goesOn || !chat ? choice.path("text").asString("") : delta.path("content").asString("");
    JsonNode ids = choice.path(IDS);
    if (ids.isArray()) {
      ids.forEach(id -> tokens.add(id.asInt()));
    } else if (!text.isEmpty()) {
      tells = false; // an engine without token ids: its chunks are not read any more
      lost = true;
    }
    if (!text.isEmpty()) {
      tokens.see();
    }
    lost |= hasMore(delta.path("tool_calls")) || hasMore(delta.path("reasoning_content"))
        || hasMore(delta.path("reasoning"));
    finished |= choice.path("finish_reason").isString();
    return !ids.isMissingNode() && !wantsIds && choice.remove(IDS) != null;
  }

  private static boolean hasMore(JsonNode value) {
    return value.isString() ? !value.asString().isEmpty() : value.isArray() && !value.isEmpty();
  }

  private static void toChat(ObjectNode choice) {
    JsonNode text = choice.remove("text");
    ObjectNode delta = choice.putObject("delta");
    if (text != null && !text.asString("").isEmpty()) {
      delta.set("content", text);
    }
  }

  /// Counts of a continued answer are those of the whole: its prompt is the client's, and all tokens are generated.
  /// What the first engine had cached is not known any more.
  private boolean usage(ObjectNode tree) {
    JsonNode usage = tree.path(USAGE);
    counts = TokenCounts.of(usage);
    if (!goesOn || !(usage instanceof ObjectNode object) || prompt == null) {
      return false;
    }
    long generated = counts.prompt() - prompt.size() + counts.completion();
    object.put("prompt_tokens", prompt.size()).put("completion_tokens", generated)
        .put("total_tokens", prompt.size() + generated).remove("prompt_tokens_details");
    counts = TokenCounts.of(object);
    return true;
  }

  TokenCounts counts() {
    return counts;
  }

  void count(ObjectNode whole) {
    counts = TokenCounts.of(whole.path(USAGE));
  }

  /// Whether another engine can go on.
  boolean canGoOn() {
    return follows && tells && !lost && prompt != null && first != null;
  }

  /// The request for the engine that goes on; null if the answer lacks no token, only its end.
  @Nullable RelayRequest goOn() {
    goesOn = true;
    tokens.forgetUnseen();
    long left = left();
    if (finished || left == 0) {
      return null;
    }
    ObjectNode body = body();
    OF_THE_PROMPT.forEach(body::remove);
    ArrayNode all = body.putArray("prompt");
    if (prompt != null) {
      all.addAll(prompt);
    }
    tokens.addSeenTo(all);
    if (left < 0) {
      body.putNull("max_tokens"); // up to the length of the model's context
    } else {
      body.put("max_tokens", left);
    }
    long least = body.path("min_tokens").asLong(0);
    if (least > 0) {
      body.put("min_tokens", Math.max(0, least - tokens.seen()));
    }
    return new RelayRequest(ApiForm.COMPLETIONS.path(), body, request.id(), request.headers(), request.bytes(),
        request.priority(), request.session());
  }

  /// Tokens that may still be generated; -1 for no limit.
  private long left() {
    for (String name : List.of("max_completion_tokens", "max_tokens")) {
      JsonNode limit = request.body().path(name);
      if (limit.isIntegralNumber()) {
        return Math.max(0, limit.asLong() - tokens.seen());
      }
    }
    boolean unlimited = chat || request.body().has("max_tokens");
    return unlimited ? -1 : Math.max(0, DEFAULT_COMPLETION - tokens.seen());
  }

  /// The chunks that the answer lacks when its engine died after the last token.
  List<String> ending() {
    List<String> chunks = new ArrayList<>();
    if (!finished) {
      ObjectNode last = named();
      ObjectNode choice = last.putArray(CHOICES).addObject().put("index", 0);
      if (chat) {
        choice.putObject("delta");
      } else {
        choice.put("text", "");
      }
      choice.put("finish_reason", "length");
      chunks.add(ApiJson.text(last));
    }
    if (!usageSent && prompt != null) {
      ObjectNode last = named();
      last.putArray(CHOICES);
      last.putObject(USAGE).put("prompt_tokens", prompt.size()).put("completion_tokens", tokens.seen())
          .put("total_tokens", prompt.size() + tokens.seen());
      counts = TokenCounts.of(last.path(USAGE));
      if (wantsUsage) {
        chunks.add(ApiJson.text(last));
      }
    }
    return chunks;
  }

  private ObjectNode named() {
    ObjectNode chunk = ApiJson.object();
    if (first != null) {
      chunk.setAll(first);
    }
    return chunk;
  }
}
