package io.penstock.node.replay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

/// A [ReplayReport] as a file, for a machine and for a person who looks into it.
final class ReportJson {
  private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private ReportJson() {}

  static String of(ReplayReport report) {
    try {
      return JSON.writeValueAsString(report) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a report must have a JSON form", e);
    }
  }
}
