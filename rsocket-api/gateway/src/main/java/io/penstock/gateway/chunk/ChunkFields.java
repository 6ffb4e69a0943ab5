package io.penstock.gateway.chunk;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

/// The fields of a chunk that the gateway follows.
final class ChunkFields {
  private static final ChunkFields NONE = new ChunkFields();
  private static final int FIRST_IDS = 4;

  int choices;
  String content = "";
  String text = "";
  @Nullable String finish;
  boolean hasCalls;
  boolean hasThoughts;
  boolean hasPromptIds;
  int @Nullable [] tokenIds;
  /// Where the member `token_ids` is in the text; `idsTo` is 0 if it is not there.
  int idsFrom;
  int idsTo;

  private ChunkFields() {}

  static ChunkFields of(JsonMapper mapper, String json) {
    ChunkFields fields = new ChunkFields();
    try (JsonParser parser = mapper.createParser(json)) {
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        fields.chunk(parser);
      }
      return fields;
    } catch (JacksonException e) {
      return NONE;
    }
  }

  ChunkFields withoutIds() {
    ChunkFields copy = new ChunkFields();
    copy.choices = choices;
    copy.content = content;
    copy.text = text;
    copy.finish = finish;
    copy.hasCalls = hasCalls;
    copy.hasThoughts = hasThoughts;
    copy.hasPromptIds = hasPromptIds;
    return copy;
  }

  private void chunk(JsonParser parser) {
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      JsonToken value = parser.nextToken();
      if (name.equals("choices") && value == JsonToken.START_ARRAY) {
        choices(parser);
      } else {
        hasPromptIds |= name.equals("prompt_token_ids");
        parser.skipChildren();
      }
    }
  }

  private void choices(JsonParser parser) {
    for (JsonToken value = parser.nextToken(); value != JsonToken.END_ARRAY; value = parser.nextToken()) {
      if (choices++ == 0 && value == JsonToken.START_OBJECT) {
        choice(parser);
      } else {
        parser.skipChildren();
      }
    }
  }

  private void choice(JsonParser parser) {
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      int from = name.equals("token_ids") ? (int) parser.currentTokenLocation().getCharOffset() : -1;
      JsonToken value = parser.nextToken();
      switch (name) {
        case "delta" -> {
          if (value == JsonToken.START_OBJECT) {
            delta(parser);
          }
        }
        case "text" -> text = string(parser, value);
        case "finish_reason" -> finish = value == JsonToken.VALUE_STRING ? parser.getString() : null;
        case "token_ids" -> {
          if (value == JsonToken.START_ARRAY) {
            tokenIds(parser);
            idsFrom = from;
            idsTo = (int) parser.currentLocation().getCharOffset();
          }
        }
        case "prompt_token_ids" -> hasPromptIds = true;
        default -> {
        }
      }
      if (parser.currentToken().isStructStart()) {
        parser.skipChildren();
      }
    }
  }

  private void delta(JsonParser parser) {
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      JsonToken value = parser.nextToken();
      switch (name) {
        case "content" -> content = string(parser, value);
        case "tool_calls" -> hasCalls |= isMore(parser, value);
        case "reasoning_content", "reasoning" -> hasThoughts |= isMore(parser, value);
        default -> {
        }
      }
      if (parser.currentToken().isStructStart()) {
        parser.skipChildren();
      }
    }
  }

  private static String string(JsonParser parser, JsonToken value) {
    return value == JsonToken.VALUE_STRING ? parser.getString() : "";
  }

  /// Whether a value is a text or a list that is not empty. It may move on into the list.
  private static boolean isMore(JsonParser parser, JsonToken value) {
    if (value != JsonToken.START_ARRAY) {
      return value == JsonToken.VALUE_STRING && parser.getStringLength() > 0;
    }
    boolean isMore = false;
    for (JsonToken each = parser.nextToken(); each != JsonToken.END_ARRAY; each = parser.nextToken()) {
      isMore = true;
      parser.skipChildren();
    }
    return isMore;
  }

  private void tokenIds(JsonParser parser) {
    int[] ids = new int[FIRST_IDS];
    int count = 0;
    for (JsonToken each = parser.nextToken(); each != JsonToken.END_ARRAY; each = parser.nextToken()) {
      if (count == ids.length) {
        ids = Arrays.copyOf(ids, 2 * count);
      }
      ids[count++] = parser.getValueAsInt();
      parser.skipChildren();
    }
    tokenIds = Arrays.copyOf(ids, count);
  }
}
