package io.penstock.node.config;

/// A value that somebody wrote down for a setting.
record Given(Setting<?> setting, String text, Origin origin) {}
