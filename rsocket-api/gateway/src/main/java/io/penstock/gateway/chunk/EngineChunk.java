package io.penstock.gateway.chunk;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/// A chunk of an engine's stream: its JSON, which is read at the first question, once, and without a tree. Text that is
/// no JSON object has no fields. For one thread at a time.
public final class EngineChunk {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final String json;
  private @Nullable ChunkFields fields;

  public EngineChunk(String json) {
    this(json, null);
  }

  private EngineChunk(String json, @Nullable ChunkFields fields) {
    this.json = json;
    this.fields = fields;
  }

  private ChunkFields fields() {
    ChunkFields known = fields;
    if (known == null) {
      known = ChunkFields.of(MAPPER, json);
      fields = known;
    }
    return known;
  }

  /// The JSON of the event.
  public String json() {
    return json;
  }

  /// The whole as a tree; an empty object if the text is no JSON. Each call parses.
  public JsonNode tree() {
    try {
      return MAPPER.readTree(json);
    } catch (JacksonException e) {
      return JsonNodeFactory.instance.objectNode();
    }
  }

  /// Whether it may count tokens. The text is searched and not parsed.
  public boolean hasUsage() {
    return json.contains("\"usage\":{") || json.contains("\"usage\": {");
  }

  /// Number of choices.
  public int choices() {
    return fields().choices;
  }

  /// New text of the first choice of a chat; empty if there is none.
  public String content() {
    return fields().content;
  }

  /// New text of the first choice of a completion; empty if there is none.
  public String text() {
    return fields().text;
  }

  /// Why the first choice ended; null while it goes on.
  public @Nullable String finish() {
    return fields().finish;
  }

  /// Whether the first choice brings a part of a tool call.
  public boolean hasCalls() {
    return fields().hasCalls;
  }

  /// Whether the first choice brings a part of a thought.
  public boolean hasThoughts() {
    return fields().hasThoughts;
  }

  /// Whether it names the tokens of the prompt.
  public boolean hasPromptIds() {
    return fields().hasPromptIds;
  }

  /// The new tokens of the first choice; null if it names none. The caller must not change them.
  public int @Nullable [] tokenIds() {
    return fields().tokenIds;
  }

  /// This chunk without [#tokenIds].
  public EngineChunk withoutTokenIds() {
    ChunkFields known = fields();
    int from = known.idsFrom;
    int to = known.idsTo;
    if (to == 0) {
      return this;
    }
    int after = to;
    while (json.charAt(after) == ' ') {
      after++;
    }
    if (json.charAt(after) == ',') {
      to = after + 1;
    } else {
      int before = from - 1;
      while (json.charAt(before) == ' ') {
        before--;
      }
      from = json.charAt(before) == ',' ? before : from;
    }
    return new EngineChunk(new StringBuilder(json.length()).append(json, 0, from).append(json, to, json.length())
        .toString(), known.withoutIds());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other == this || (other instanceof EngineChunk chunk && chunk.json.equals(json));
  }

  @Override
  public int hashCode() {
    return json.hashCode();
  }

  @Override
  public String toString() {
    return json;
  }
}
