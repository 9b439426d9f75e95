//! What is said of a total of a run, and of a column: how people call it and in which unit they read it.

/// Which way a measure is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Better {
    /// Neither: it describes the run.
    #[default]
    Neither,
    /// More of it.
    More,
    /// Less of it.
    Less,
}

impl Better {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neither => "neither",
            Self::More => "more",
            Self::Less => "less",
        }
    }
}

/// How a measure is called on axes and in tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// What people call it.
    pub label: &'static str,
    /// What tells it from other measures of that label; empty where there is one only.
    pub definition: &'static str,
    /// Unit that people read, where that is not the usual one for the unit of the value: `s` of a time that is no delay,
    /// `%` of a share.
    pub shown: &'static str,
    /// Which way is better.
    pub better: Better,
}

impl Heading {
    /// None: a column without one is called by its name, or like the total of that name.
    pub const NONE: Self = Self { label: "", definition: "", shown: "", better: Better::Neither };

    /// A place on the clock.
    pub const TIME: Self = Self::new("Time").shown_in("s");

    /// The name of a traffic group.
    pub const GROUP: Self = Self::new("Traffic group");

    /// A label, and nothing else to say.
    pub const fn new(label: &'static str) -> Self {
        Self { label, ..Self::NONE }
    }
    /// What tells it from others of that label.
    #[must_use]
    pub const fn told_by(self, definition: &'static str) -> Self {
        Self { definition, ..self }
    }
    /// The unit that people read.
    #[must_use]
    pub const fn shown_in(self, shown: &'static str) -> Self {
        Self { shown, ..self }
    }
    /// Less of it is better.
    #[must_use]
    pub const fn less(self) -> Self {
        Self { better: Better::Less, ..self }
    }
    /// More of it is better.
    #[must_use]
    pub const fn more(self) -> Self {
        Self { better: Better::More, ..self }
    }
}

/// What somebody looks for who reads totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// How much arrived, and how fairly it was shared.
    Goodput,
    /// How long flows and queries took.
    Completion,
    /// What was lost, and what that led to.
    Losses,
    /// The bottleneck's queue, and what switches did.
    Queue,
    /// The run itself.
    Run,
    /// A list with an entry for each traffic group.
    Groups,
}

impl Topic {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Completion => "completion",
            Self::Losses => "losses",
            Self::Queue => "queue",
            Self::Run => "run",
            Self::Groups => "groups",
        }
    }
}

/// One total of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// Key in the summary, and column of a table of runs.
    pub name: &'static str,
    /// Unit of the value, as in [`super::table::Column::unit`].
    pub unit: &'static str,
    /// Unit that people read, where that is not the usual one for `unit`: `s` of a time that is no delay, `%` of a share.
    pub shown: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// What tells it from other measures of that label; empty where there is one only.
    pub definition: &'static str,
    /// Name at the head of a narrow column; the name itself if empty.
    pub short: &'static str,
    /// Name as a goal or a bound of `fanin compare`, `capacity` and `tune`; empty if it has no name but its own.
    pub goal: &'static str,
    /// The whole definition, in Markdown; label and definition say it all if empty.
    pub doc: &'static str,
    /// Where it is shown.
    pub topic: Topic,
    /// Which way is better.
    pub better: Better,
    /// Whether each traffic group has it, too.
    pub of_groups: bool,
    /// Whether readers are spared it while it is zero.
    pub hidden_at_zero: bool,
}

impl Total {
    /// How people call it.
    pub const fn heading(&self) -> Heading {
        Heading { label: self.label, definition: self.definition, shown: self.shown, better: self.better }
    }
    /// A count without a name: what the rows of a list of totals begin with.
    pub const fn of(topic: Topic) -> Self {
        Self {
            name: "",
            unit: "1",
            shown: "",
            label: "",
            definition: "",
            short: "",
            goal: "",
            doc: "",
            topic,
            better: Better::Neither,
            of_groups: false,
            hidden_at_zero: false,
        }
    }
}
