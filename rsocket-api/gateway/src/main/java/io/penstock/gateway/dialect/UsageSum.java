package io.penstock.gateway.dialect;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The usage of several parts as one engine would count it: a prompt once, however many choices it has.
final class UsageSum {
  private static final String PROMPT = "prompt_tokens";
  private static final String COMPLETION = "completion_tokens";
  private static final String PROMPT_DETAILS = "prompt_tokens_details";
  private static final String COMPLETION_DETAILS = "completion_tokens_details";

  private long prompt;
  private long completion;
  private boolean promptDetailsKnown = true;
  private @Nullable ObjectNode promptDetails;
  private @Nullable ObjectNode completionDetails;

  /// Adds the usage of a part.
  ///
  /// @param first whether the part is the first choice of its prompts
  void add(JsonNode usage, boolean first) {
    completion += usage.path(COMPLETION).asLong(0);
    completionDetails = sum(completionDetails, usage.path(COMPLETION_DETAILS));
    if (first) {
      prompt += usage.path(PROMPT).asLong(0);
      promptDetails = sum(promptDetails, usage.path(PROMPT_DETAILS));
      promptDetailsKnown &= usage.path(PROMPT_DETAILS).isObject();
    }
  }

  ObjectNode total() {
    ObjectNode usage = Json.object().put(PROMPT, prompt).put(COMPLETION, completion);
    usage.put("total_tokens", prompt + completion);
    if (promptDetails != null && promptDetailsKnown) {
      usage.set(PROMPT_DETAILS, promptDetails);
    }
    if (completionDetails != null) {
      usage.set(COMPLETION_DETAILS, completionDetails);
    }
    return usage;
  }

  private static @Nullable ObjectNode sum(@Nullable ObjectNode before, JsonNode details) {
    if (!details.isObject()) {
      return before;
    }
    ObjectNode sum = before == null ? Json.object() : before;
    for (Map.Entry<String, JsonNode> entry : details.properties()) {
      if (entry.getValue().isIntegralNumber()) {
        sum.put(entry.getKey(), sum.path(entry.getKey()).asLong(0) + entry.getValue().asLong());
      }
    }
    return sum;
  }
}
