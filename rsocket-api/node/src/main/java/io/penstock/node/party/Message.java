package io.penstock.node.party;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/// Messages between the driver of a replay and a party in another process: one line of JSON each, on standard input and
/// output.
///
/// `call` ties an answer to its question.
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "say")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Message.Ready.class, name = "ready"),
  @JsonSubTypes.Type(value = Message.Read.class, name = "read"),
  @JsonSubTypes.Type(value = Message.Need.class, name = "need"),
  @JsonSubTypes.Type(value = Message.Supplied.class, name = "supplied"),
  @JsonSubTypes.Type(value = Message.NotSupplied.class, name = "not-supplied"),
  @JsonSubTypes.Type(value = Message.Delivered.class, name = "delivered"),
  @JsonSubTypes.Type(value = Message.Put.class, name = "put"),
  @JsonSubTypes.Type(value = Message.Stored.class, name = "stored"),
  @JsonSubTypes.Type(value = Message.AskStat.class, name = "ask-stat"),
  @JsonSubTypes.Type(value = Message.Stat.class, name = "stat"),
  @JsonSubTypes.Type(value = Message.Cancel.class, name = "cancel"),
  @JsonSubTypes.Type(value = Message.Failed.class, name = "failed"),
})
sealed interface Message {
  long call();

  /// A party is connected and waits for work.
  record Ready(long call) implements Message {}

  /// To decode: read these blocks.
  record Read(long call, List<Long> ids) implements Message {}

  /// From decode: the node answered, and admitted some blocks.
  ///
  /// @param need number of this need, for a read may have several, one a pass
  record Need(long call, long need, Answer answer) implements Message {}

  /// To decode: the needed blocks were put.
  record Supplied(long call, long need) implements Message {}

  /// To decode: the needed blocks could not be put.
  ///
  /// @param isTransient whether a retry may succeed
  record NotSupplied(long call, long need, String message, boolean isTransient) implements Message {}

  /// From decode: all came.
  record Delivered(long call, Delivery delivery) implements Message {}

  /// To prefill: put these blocks.
  record Put(long call, List<Long> ids) implements Message {}

  /// From prefill: all were put.
  record Stored(long call) implements Message {}

  /// To a party: asks for its figures.
  record AskStat(long call) implements Message {}

  /// From a party.
  record Stat(long call, PartyStat stat) implements Message {}

  /// To a party: the caller no longer waits for this call.
  record Cancel(long call) implements Message {}

  /// From a party: the call failed.
  ///
  /// @param isTransient whether a retry may succeed
  record Failed(long call, String message, boolean isTransient) implements Message {}
}
