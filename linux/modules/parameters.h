/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of modules that are numbers with a fraction, times, or words. Fractions are multiples of 2^-20. */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#include <linux/math64.h>
#include <linux/module.h>
#include <linux/string.h>

#define SHIFT 20
#define ONE (1U << SHIFT)

/* A parameter that is a number such as 2.5, 1/16 or 3. */
static int set_number(const char *text, const struct kernel_param *param)
{
	u64 whole, rest = 0, scale = 1;
	char *end;

	whole = simple_strtoull(text, &end, 10);
	if (end == text || whole > 1000000)
		return -EINVAL;
	if (*end == '/') {
		scale = simple_strtoull(end + 1, &end, 10);
		swap(whole, rest);
	} else if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9' && scale < 1000000000; end++, scale *= 10)
			rest = rest * 10 + *end - '0';
	}
	if (!scale || scale > 1000000000 || (*end && strcmp(end, "\n")))
		return -EINVAL;
	whole = (whole << SHIFT) + div64_u64((rest << SHIFT) + scale / 2, scale);
	if (whole > U32_MAX)
		return -ERANGE;
	WRITE_ONCE(*(u32 *)param->arg, whole);
	return 0;
}

static int get_number(char *text, const struct kernel_param *param)
{
	u32 value = *(u32 *)param->arg;

	return sysfs_emit(text, "%u.%06llu\n", value >> SHIFT, ((u64)(value & (ONE - 1)) * 1000000) >> SHIFT);
}

static const struct kernel_param_ops __maybe_unused number_ops = { .set = set_number, .get = get_number };

#define number_param(name, text)				\
	module_param_cb(name, &number_ops, &name, 0644);	\
	MODULE_PARM_DESC(name, text)

/* A parameter that is one of some words. */
struct choice {
	const char *const *words;	/* NULL behind the last */
	int chosen;
};

static int set_choice(const char *text, const struct kernel_param *param)
{
	struct choice *choice = param->arg;
	int chosen = __sysfs_match_string(choice->words, -1, text);

	if (chosen < 0)
		return chosen;
	WRITE_ONCE(choice->chosen, chosen);
	return 0;
}

static int get_choice(char *text, const struct kernel_param *param)
{
	const struct choice *choice = param->arg;

	return sysfs_emit(text, "%s\n", choice->words[choice->chosen]);
}

static const struct kernel_param_ops __maybe_unused choice_ops = { .set = set_choice, .get = get_choice };

#define choice_param(name, text)				\
	module_param_cb(name, &choice_ops, &name, 0644);	\
	MODULE_PARM_DESC(name, text)

/* A parameter that is a time such as 160us, 10ms or 2s; kept in nanoseconds. */
static int set_time(const char *text, const struct kernel_param *param)
{
	static const struct { const char *name; u64 ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	};
	char *unit;
	u64 count = simple_strtoull(text, &unit, 10);
	int i;

	if (unit == text || count > 1000000000)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (sysfs_streq(unit, units[i].name)) {
			WRITE_ONCE(*(u64 *)param->arg, count * units[i].ns);
			return 0;
		}
	}
	return -EINVAL;
}

static int get_time(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%lluns\n", *(u64 *)param->arg);
}

static const struct kernel_param_ops __maybe_unused time_ops = { .set = set_time, .get = get_time };

#define time_param(name, text)				\
	module_param_cb(name, &time_ops, &name, 0644);	\
	MODULE_PARM_DESC(name, text)

#endif
