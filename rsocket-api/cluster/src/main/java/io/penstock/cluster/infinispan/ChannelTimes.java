package io.penstock.cluster.infinispan;

/// How long members wait for each other, in milliseconds.
///
/// @param join for an answer of a seed, and then of the member that makes the views
/// @param meet most time between two words to other parts of the cluster; the parts are one after some of them
/// @param heartbeat between two words of a member that says nothing else
/// @param silence after which a member is asked whether it is there
record ChannelTimes(int join, int meet, int heartbeat, int silence) {
  /// As nodes wait.
  static final ChannelTimes DEFAULTS = new ChannelTimes(1500, 4000, 1500, 6000);
}
